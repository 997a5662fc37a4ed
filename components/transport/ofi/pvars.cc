#include "components/transport/common/pvar_rows.h"
#include "components/transport/ofi/interface.h"

namespace ashlar::ofi {
namespace {

constexpr ashlar_pvar_row kRows[] = {
    ASHLAR_NETWORK_PVARS("ofi", "libfabric"), ASHLAR_NETWORK_TAG_PVARS("ofi", "libfabric"),
    ASHLAR_NETWORK_RAIL_PVARS("ofi", "libfabric"),
    plugin::pvar("out_of_order", "messages that libfabric brought before an earlier one of their sender",
                 ASHLAR_PVAR_COUNTER, offsetof(network::Counters, out_of_order))};

void show_all(const ashlar_host& host, const network::Counters* counters) {
  plugin::show_block(host, "transport", "ofi", kRows, counters);
}

}  // namespace

void Component::introduce(const ashlar_host& host) { show_all(host, nullptr); }

// What tcp;ofi_rxm does on one node.
const network::Traits Component::kTraits = {
    .component = "ofi",
    .library = "libfabric",
    .settings = "transport.ofi.provider, transport.ofi.domain",
    .latency_ns = 12000,
    .bandwidth_copy = 1.5F,
    .bandwidth_get = 3,
    .show = [](const ashlar_host& host, const network::Counters& counters) { show_all(host, &counters); },
    .hide = [](const ashlar_host& host,
               const network::Counters& counters) { plugin::hide_block(host, kRows, &counters); }};

}  // namespace ashlar::ofi

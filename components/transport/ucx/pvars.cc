#include "components/transport/common/pvar_rows.h"
#include "components/transport/ucx/interface.h"

namespace ashlar::ucx {
namespace {

constexpr ashlar_pvar_row kRows[] = {ASHLAR_NETWORK_PVARS("ucx", "UCX"), ASHLAR_NETWORK_TAG_PVARS("ucx", "UCX")};

void show_all(const ashlar_host& host, const network::Counters* counters) {
  plugin::show_block(host, "transport", "ucx", kRows, counters);
}

}  // namespace

void Component::introduce(const ashlar_host& host) { show_all(host, nullptr); }

// What tcp does on one node.
const network::Traits Component::kTraits = {
    .component = "ucx",
    .library = "UCX",
    .settings = "transport.ucx.transports, transport.ucx.devices, transport.ucx.puts",
    .latency_ns = 12000,
    .bandwidth_copy = 1.5F,
    .bandwidth_get = 3,
    .show = [](const ashlar_host& host, const network::Counters& counters) { show_all(host, &counters); },
    .hide = [](const ashlar_host& host,
               const network::Counters& counters) { plugin::hide_block(host, kRows, &counters); }};

}  // namespace ashlar::ucx

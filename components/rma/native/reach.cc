// Which targets a transport reaches, and whether it updates their memory as well.
#include <mpi.h>

#include <new>

#include "components/rma/native/state.h"
#include "framework/base/failure.h"
#include "framework/plugin/tables.h"
#include "framework/rma/neighbours.h"
#include "framework/rma/sync.h"
#include "framework/rma/transports.h"
#include "framework/rma/ways.h"

namespace ashlar::rma::native {
namespace {

Status not_exposed(Rank rank, const char* transport) {
  return fail(MPI_ERR_OTHER, "rma.native_not_exposed", {{"peer", rank}, {"lower", transport}});
}

Status no_atomics(const char* transport) {
  return fail(MPI_ERR_OTHER, "rma.native_no_atomics", {{"transport", transport}});
}

/// Connects to the target, and finds its key for the transport that leads there.
Status connect(NativeWindow& state, const Target& target, ToTarget* to, const Exposure** found,
               const char** transport) {
  TransportWay way;
  ASHLAR_TRY(transport_to(state.window, target.rank, &way));
  *transport = way.transport;
  constexpr std::uint64_t kBoth = ASHLAR_CAP_GET | ASHLAR_CAP_PUT;
  to->attributes = plugin::attributes_of(*way.iface);
  if ((way.endpoint->capabilities & kBoth) != kBoth || to->attributes.put_completion == ASHLAR_PUT_UNKNOWN)
    return fail(MPI_ERR_OTHER, "rma.native_no_puts", {{"transport", *transport}});
  const std::uint64_t number = transport_number(*transport);
  for (const Exposure& one : state.exposures[static_cast<std::size_t>(target.rank)])
    if (one.transport == number) *found = &one;
  if (*found == nullptr) return not_exposed(target.rank, *transport);
  to->endpoint = way.endpoint;
  to->key = (*found)->key;
  return {};
}

/// Updates go by the transport as far as it can make them, and others as they go without it.
Status take_updates(RmaWindow& window, Target& target, const Exposure& exposure, const char* transport, ToTarget* to) {
  const bool offered = (to->endpoint->capabilities & ASHLAR_CAP_AMO) != 0 && to->endpoint->ops->amo != nullptr;
  if (!state_of(window).config.atomics || !offered || to->attributes.amo_coherent == 0 || exposure.coherent == 0 ||
      window.sync->guard(target.rank).kind != Guard::Kind::kOwner)
    return no_atomics(transport);
  Target rest = target;
  rest.copies = &native;
  rest.updates = nullptr;
  ASHLAR_TRY(reach_by_later(window, component, rest));
  to->others = rest.updates;
  target.updates = &native;
  return {};
}

}  // namespace

Status reach(RmaWindow& window, Target& target) {
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC) return fail(MPI_ERR_OTHER, "rma.native_dynamic");
  const bool own = target.rank == window.me;
  if (window_state(window) == nullptr)
    return window.ranks > 1 ? fail(MPI_ERR_OTHER, "rma.same_node") : fail(MPI_ERR_OTHER, "rma.native_no_transport");
  NativeWindow& state = state_of(window);
  if (!own && state.config.peers == kOtherNodes &&
      neighbour_of(window, target.rank).node == neighbour_of(window, window.me).node)
    return fail(MPI_ERR_OTHER, "rma.same_node");
  ASHLAR_TRY(WindowWire::open(window));  // whose waits are this component's
  std::unique_ptr<ToTarget> to(new (std::nothrow) ToTarget);
  if (to == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the way to a target"}});
  to->rank = target.rank;
  Status updates;
  if (own) {
    updates = fail(MPI_ERR_OTHER, "rma.native_own");
    if (target.copies == nullptr) target.memory = static_cast<std::byte*>(window.base);
  } else {
    const Exposure* exposure = nullptr;
    const char* transport = "";
    ASHLAR_TRY(connect(state, target, to.get(), &exposure, &transport));
    if (target.updates == nullptr) updates = take_updates(window, target, *exposure, transport, to.get());
  }
  if (target.copies == nullptr) target.copies = &native;
  state.targets[static_cast<std::size_t>(target.rank)] = std::move(to);
  return updates;
}

}  // namespace ashlar::rma::native

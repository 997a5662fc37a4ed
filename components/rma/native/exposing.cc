// The memory of a window is registered with the transports of its lane, and every process is told how others reach it.
#include <mpi.h>

#include <algorithm>
#include <utility>

#include "components/rma/native/state.h"
#include "framework/base/hash.h"
#include "framework/plugin/tables.h"
#include "framework/rma/cards.h"
#include "framework/rma/sync.h"

namespace ashlar::rma::native {
namespace {

/// Whether puts and gets of this interface are good for one-sided communication.
bool serves(ashlar_iface& iface, const ashlar_iface_attributes& attributes) {
  return iface.ops->expose != nullptr && iface.ops->unexpose != nullptr &&
         attributes.put_completion != ASHLAR_PUT_UNKNOWN;
}

}  // namespace

std::uint64_t transport_number(const char* name) {
  const std::uint64_t number = Hash::of(name);
  return number != 0 ? number : 1;
}

bool wants_transports(const RmaWindow& window, const Config& config, std::span<const Card> cards) {
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC || window.ranks < 2) return false;
  const auto elsewhere = [&cards](const Card& card) { return card.node != cards[0].node; };
  return config.peers == kAllPeers || std::ranges::any_of(cards, elsewhere);
}

void expose(NativeWindow& state, Exposures* out) {
  RmaWindow& window = state.window;
  if (window.size == 0 || window.base == nullptr) return;
  Lane& lane = window.lane();
  const LaneGuard guard(lane.lock);
  std::size_t used = 0;
  for (unsigned i = 0; i < lane.iface_count && used < kTransports; ++i) {
    ashlar_iface& iface = *lane.ifaces[i];
    const ashlar_iface_attributes attributes = plugin::attributes_of(iface);
    Exposure& one = (*out)[used];
    if (!serves(iface, attributes) || iface.ops->expose(&iface, window.base, static_cast<std::uint64_t>(window.size),
                                                        ASHLAR_MEMORY_HOST, &one.key) != ASHLAR_OK)
      continue;  // others ask for what they want
    one.transport = transport_number(lane.iface_names[i]);
    one.coherent = attributes.amo_coherent != 0 ? 1 : 0;
    state.exposed[used++] = &iface;
  }
}

void unexpose(NativeWindow& state) {
  if (state.exposed[0] == nullptr) return;
  const LaneGuard guard(state.window.lane().lock);
  const Exposures& own = state.exposures[static_cast<std::size_t>(state.window.me)];
  for (std::size_t i = 0; i < kTransports && state.exposed[i] != nullptr; ++i)
    state.exposed[i]->ops->unexpose(state.exposed[i], &own[i].key);
}

Status exchange_keys(NativeWindow* state, Comm& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size);
  std::vector<Exposures> all(ranks);
  Exposures own = {};
  if (state != nullptr) expose(*state, &own);
  const Status met = exchange_bytes(comm, &own, sizeof own, all.data());
  if (state == nullptr) return met;
  all[static_cast<std::size_t>(comm.rank)] = own;
  state->exposures = std::move(all);
  state->targets.resize(ranks);
  if (!met.ok()) unexpose(*state);
  return met;
}

// The gate of this memory is never closed, as nothing keeps a transport out: so no process has to be fenced.
void guard_own(NativeWindow& state) {
  RmaWindow& window = state.window;
  if (!state.config.atomics || window.sync->guard(window.me).kind != Guard::Kind::kOwner) return;
  const Exposures& exposures = state.exposures[static_cast<std::size_t>(window.me)];
  if (std::ranges::none_of(exposures, [](const Exposure& one) { return one.coherent != 0; })) return;
  state.guard = {.kind = Guard::Kind::kElements,
                 .line = &state.line,
                 .origins = &state.own,
                 .own = 0,
                 .count = 1,
                 .range = {.elements = RangeLimits::kNever}};
  window.own_guard = &state.guard;
}

}  // namespace ashlar::rma::native

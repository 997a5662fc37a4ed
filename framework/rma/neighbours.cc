#include "framework/rma/neighbours.h"

#include "framework/rma/engine.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

void Neighbours::learn(PeerId peer, std::uint32_t node, const Card& card) {
  const std::lock_guard guard(mutex_);
  const Neighbour*& latest = latest_[peer];
  if (latest != nullptr && latest->probe == card.probe && latest->heap.nonce == card.heap.nonce) return;
  latest = &all_.emplace_back(Neighbour{.node = node, .pid = card.pid, .probe = card.probe, .heap = card.heap});
}

const Neighbour& Neighbours::of(PeerId peer) const {
  const std::lock_guard guard(mutex_);
  return *latest_.at(peer);
}

const Neighbour& neighbour_of(const RmaWindow& window, Rank rank) {
  return Engine::current().neighbours.of((*window.group)[rank]);
}

}  // namespace ashlar::rma

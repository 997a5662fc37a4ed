#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include "framework/base/types.h"
#include "framework/memory/heap.h"
#include "framework/rma/card.h"

namespace ashlar {
class RmaWindow;
}
namespace ashlar::rma {

/// What this process knows of another, whatever window they share; it travels in the cards of windows.
struct Neighbour {
  std::uint32_t node = 0;  // as this job counts them: comm::Services::node_of
  std::int32_t pid = 0;
  std::uint64_t probe = 0;
  memory::HeapHandle heap;
};

/// All of them, once for the whole process: a thousand windows of the same processes know them together. Any thread.
class Neighbours {
 public:
  /// What `card` says of a process, which runs on `node`. A process that had no heap may have got one.
  void learn(PeerId peer, std::uint32_t node, const Card& card);
  /// What it said last. It has been learned; stays as it is, and where it is, as long as this.
  const Neighbour& of(PeerId peer) const;

 private:
  mutable std::mutex mutex_;   // guards the rest
  std::deque<Neighbour> all_;  // two of each process at most
  std::map<PeerId, const Neighbour*> latest_;
};

/// The process that has that rank of the window.
const Neighbour& neighbour_of(const RmaWindow& window, Rank rank);

}  // namespace ashlar::rma

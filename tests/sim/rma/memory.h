#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "components/rma/shm/state.h"
#include "tests/sim/rma/fibers.h"

namespace ashlar::sim {

/// The window of many virtual ranks, synchronized in memory: components/rma/shm over a block that all of them share.
/// A wake-up takes any time, and a rank that sleeps goes on for nothing else. Its barriers go in rounds.
class MemoryRanks {
 public:
  static constexpr bool kSendsMessages = false;
  /// Few times, so that ranks come to the ends of both.
  static constexpr rma::shm::LockLimits kSmall = {.again = 2, .bias_after = 2};
  MemoryRanks(int ranks, Fibers& of, bool central = false, const rma::shm::LockLimits& limits = kSmall);
  ~MemoryRanks();
  rma::Sync& sync(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]->sync; }
  RmaWindow& window(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]->window; }
  /// What a rank knows of another.
  rma::Target& target(Rank me, Rank of) {
    rma::Target& found = ranks_[static_cast<std::size_t>(me)]->targets[of];
    found.rank = of;
    return found;
  }
  /// Wake-ups: the only thing that is sent.
  std::uint64_t messages() const { return wakes_; }
  static MemoryRanks& current() { return *current_; }

  void wake(Rank rank);
  /// Whether the rank has been woken since it last asked: then it does not sleep.
  bool take_wake(Rank rank);
  Fibers& fibers;

 private:
  struct Member {
    RmaWindow window;
    std::unordered_map<Rank, rma::Target> targets;
    std::unique_ptr<rma::shm::SharedSync> sync;
  };
  static MemoryRanks* current_;
  std::unique_ptr<std::byte, void (*)(void*)> block_;
  std::vector<std::unique_ptr<Member>> ranks_;
  std::vector<Rank> waking_;  // wake-ups that are under way, one for a rank
  std::vector<bool> is_waking_, is_woken_;
  std::uint64_t wakes_ = 0;
};

/// The same with the barrier that ranks on shared cores have.
class CentralMemoryRanks : public MemoryRanks {
 public:
  CentralMemoryRanks(int ranks, Fibers& of) : MemoryRanks(ranks, of, true) {}
};

/// The same with locks that are granted in the order of the calls, each by a ticket.
class TicketMemoryRanks : public MemoryRanks {
 public:
  TicketMemoryRanks(int ranks, Fibers& of) : MemoryRanks(ranks, of, false, {}) {}
};

}  // namespace ashlar::sim

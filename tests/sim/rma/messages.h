#pragma once
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "components/rma/am/sync.h"
#include "components/rma/am/ways.h"
#include "framework/progress/peer.h"
#include "tests/sim/rma/fibers.h"

namespace ashlar::sim {

/// The window of many virtual ranks, synchronized by messages: components/rma/am over a wire of the simulation, whose
/// messages take any time. Those of one pair keep their order; nothing else does.
class MessageRanks {
 public:
  static constexpr bool kSendsMessages = true;
  MessageRanks(int ranks, Fibers& of);
  ~MessageRanks();
  rma::Sync& sync(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]->sync; }
  RmaWindow& window(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]->window; }
  /// What a rank knows of another.
  rma::Target& target(Rank me, Rank of) {
    rma::Target& found = ranks_[static_cast<std::size_t>(me)]->targets[of];
    found.rank = of;
    return found;
  }
  std::vector<std::byte>& memory(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]->memory; }
  std::uint64_t messages() const { return messages_; }
  static MessageRanks& current() { return *current_; }

  // For the wire.
  void send(Rank from, Rank to, std::uint64_t word, std::vector<std::byte> data);
  Status barrier(Rank rank);
  Fibers& fibers;

 private:
  struct Message {
    std::uint64_t word;
    std::vector<std::byte> data;
  };
  struct Pair {
    Rank from = 0, to = 0;
    std::deque<Message> under_way;
  };
  struct Member {
    RmaWindow window;
    std::unique_ptr<rma::am::MessageSync> sync;
    std::unordered_map<Rank, rma::Target> targets;
    std::vector<std::byte> memory = std::vector<std::byte>(64);
  };
  bool deliver();
  bool hears(Rank rank);

  static MessageRanks* current_;
  PeerTable peers_;
  Lane lane_;
  Comm comm_;
  std::vector<std::unique_ptr<Member>> ranks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Pair>> pairs_;
  std::vector<Pair*> busy_;
  std::uint64_t messages_ = 0;
  std::vector<Rank> at_barrier_;
  std::uint64_t barriers_ = 0;
};

}  // namespace ashlar::sim

#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/coll/algorithm.h"
#include "framework/coll/group_wire.h"
#include "framework/coll/op.h"
#include "framework/coll/wire.h"
#include "framework/progress/lane.h"
#include "framework/progress/peer.h"

/// Thousands of virtual ranks in one process. Each rank runs its collective as suspended coroutines; a seeded scheduler
/// decides which message arrives next and which coroutine goes on, so any order that a real network could produce may
/// occur, and its seed repeats it. Messages of one pair keep their order; nothing else does.
namespace ashlar::sim {

class World;

/// One message, as the recording knows it. `round` is the length of the longest chain of messages that had to be over
/// before it could leave, itself included: what its sender had awaited, receives and sends alike.
struct Recorded {
  Rank from, to;
  std::size_t bytes;
  int round;
};

class SimWire final : public coll::Wire {
 public:
  SimWire(World& world, Rank self);
  Status send(Rank to, const DataView& data, Tag tag, Gate& gate) override;
  Status recv(Rank from, const DataView& data, Tag tag, Gate& gate) override;
  void wait(Gate& gate) override;
  Status wait(coll::Condition& condition) override;
  void watch(coll::Condition& condition) override;
  void wake(Rank) override {}
  Status can_go_on(Tag) override { return members_alive(); }
  Status members_alive();

 private:
  World& world_;
  const Rank self_;
};

class World {
 public:
  struct Options {
    bool record_list = false;  // keep every message, not only the totals
    /// false: for recording. Messages arrive in the order of their sends, all ranks start first, and no send is over
    /// before it is received, so that rounds are those of the algorithm and not of the schedule.
    bool shuffle = true;
    int blocking_rank = -1;        // this rank calls in blocking mode
    Rank dies = -1;                // this rank stops ...
    std::uint64_t dies_after = 0;  // ... after so many events
    std::size_t block_bytes = 4096;
    /// Makes what a component keeps for its communicator, for each rank; released at the end. `own` is the wire to the
    /// ranks of the rank's group.
    std::function<coll::Slot(Rank, coll::Wire& own)> slot_of = nullptr;
    /// If not 0, the size of the first group of an intercommunicator; the other ranks are the second group.
    int first_group = 0;
  };
  World(int size, std::uint64_t seed, Options options);
  World(int size, std::uint64_t seed) : World(size, seed, Options{}) {}
  ~World();

  /// Starts `algorithm` on every rank, in any order, and runs until all that live are done. False, with a description
  /// in `stuck`, when nothing can go on any more. A rank that passes MPI_PROC_NULL as the root takes no part.
  bool run(const coll::Algorithm& algorithm, const std::function<coll::Call(Rank)>& call_of,
           const coll::Arguments& arguments = {});
  Status outcome(Rank rank) const {
    const coll::Co co = ranks_[static_cast<std::size_t>(rank)]->co;
    return co.started() ? co.status() : Status{};
  }
  bool done(Rank rank) const;

  int size() const { return size_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  int rounds() const { return rounds_; }
  const std::vector<Recorded>& recorded() const { return recorded_; }
  const std::string& stuck() const { return stuck_; }

 private:
  friend class SimWire;
  struct Message {
    Rank from;
    Tag tag;
    int round;
    std::vector<std::byte> payload;
    Gate* sender_gate = nullptr;  // of a send that completes only when it is received
  };
  struct Posted {
    Tag tag;
    DataView data;
    Gate* gate;
  };
  struct Pair {  // messages from one sender to one receiver
    std::deque<Message> in_flight;
    std::deque<Message> unexpected;
    std::deque<Posted> posted;
    std::size_t active_index = 0;
  };
  struct Virtual {
    Virtual(World& world, Rank rank, std::size_t block_bytes);
    SimWire wire;
    std::optional<coll::GroupWire> own, other;  // of an intercommunicator: to the ranks of either group
    coll::ChunkCache cache{std::size_t{64} << 10};
    std::unique_ptr<std::byte[]> memory;
    coll::Block block;
    coll::Slot slot;
    coll::Call call;
    std::optional<coll::Op> op;
    coll::Co co;
    Gate finished;
    std::unordered_map<Rank, Pair> pairs;
    std::unordered_map<const Gate*, int> gate_rounds;
    int clock = 0;
    bool started = false;
    bool knows_of_death = false;
  };

  Virtual& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  void start(Rank rank, const coll::Algorithm& algorithm, const std::function<coll::Call(Rank)>& call_of,
             const coll::Arguments& arguments);
  bool step() ASHLAR_NO_THREAD_SAFETY;
  bool run_until(const std::function<bool()>& done);
  void deliver();
  void lose(Rank sender, Gate* gate);
  bool match(Rank to, Pair& pair);
  void complete(Rank rank, Gate* gate, int round, Status outcome);
  void learn_of_death(Rank rank);
  void describe_stuck();
  std::uint64_t random(std::uint64_t below) { return below < 2 ? 0 : engine_() % below; }

  const int size_;
  const Options options_;
  std::vector<Rank> groups_[2];
  std::mt19937_64 engine_;
  PeerTable peers_;
  Lane lane_;
  std::vector<std::unique_ptr<Virtual>> ranks_;
  std::vector<std::pair<Rank, Pair*>> active_;    // pairs with messages in flight, and their receivers
  std::deque<std::pair<Rank, Pair*>> in_order_;   // instead of active_ without shuffling: one entry per message
  std::deque<std::pair<Rank, Pair*>> matchable_;  // pairs with a receive and an early message that match
  std::vector<std::pair<Rank, Gate*>> lost_;      // sends to a dead rank, which no receive completes
  std::vector<Recorded> recorded_;
  std::uint64_t messages_ = 0, bytes_ = 0, events_ = 0;
  int rounds_ = 0;
  bool dead_ = false;
  std::vector<Rank> unaware_;
  std::string stuck_;
};

}  // namespace ashlar::sim

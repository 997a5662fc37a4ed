#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/coll/algorithm.h"
#include "framework/coll/call.h"

/// One collective call on every rank of a group, with made-up data and, computed locally, what every byte of every
/// buffer must be afterwards: the oracle.
namespace ashlar::sim {

enum class Items { kInt, kGaps, kVector, kMixed, kCount_ };     // of data that is moved
enum class Operation { kSum, kSumPairs, kIntervals, kCount_ };  // of data that is reduced

struct Scenario {
  coll::Collective what = coll::Collective::kBarrier;
  int size = 1;
  Rank root = 0;
  int count = 1;  // items per block; in the v-forms the most
  Items items = Items::kInt;
  Operation operation = Operation::kSum;
  bool in_place = false;
  std::uint64_t seed = 0;
  std::string describe() const;
};

/// One buffer of one rank: blocks of items at displacements, in memory whose every byte is known.
class Buffer {
 public:
  /// `counts` items in each block; `spread`: blocks in another order, with gaps between them, as the v-forms allow.
  Buffer(Datatype& type, int ints_per_item, std::vector<MPI_Count> counts, bool spread, std::uint64_t seed);
  DataView block(std::size_t i) const;
  DataView first() const;  // the view that a call takes: block 0's count
  const MPI_Count* counts() const { return counts_.data(); }
  const MPI_Count* displs() const { return displs_.data(); }
  const MPI_Count* byte_displs() const { return byte_displs_.data(); }
  MPI_Datatype handle() const;
  std::size_t blocks() const { return counts_.size(); }
  std::size_t ints(std::size_t i) const { return static_cast<std::size_t>(counts_[i] * ints_per_item_); }
  /// Block i's packed integers.
  void fill(std::size_t i, const std::vector<int>& values);
  bool same_memory(const Buffer& other) const { return memory_ == other.memory_; }

 private:
  Datatype* type_;
  int ints_per_item_;
  std::vector<MPI_Count> counts_, displs_, byte_displs_;
  std::vector<unsigned char> memory_;
};

/// The buffers of all ranks: what they hold before the call, and what the receive side must hold after it.
class Calls {
 public:
  explicit Calls(const Scenario& scenario);
  coll::Call of(Rank rank) const;
  /// "" when every byte of rank's buffers is as it must be, else what is wrong.
  std::string check(Rank rank) const;
  /// The quantity that rules would go by, as each rank computes it; -1 when they differ.
  MPI_Count quantity() const;
  coll::Shape shape() const { return coll::Shape{.ranks = s_.size, .nodes = s_.size, .node_ranks = 1}; }

 private:
  void make_rank(Rank rank);
  void make_reduction(Rank rank);
  void make_neighbourhood(Rank rank);
  void draw_topology();
  MPI_Count block_count(Rank from, Rank to) const;
  std::vector<int> values(Rank from, Rank to, std::size_t count) const;
  const std::vector<int>& reduced(std::size_t count);
  std::vector<int> reduced_, prefix_;

  const Scenario s_;
  struct Edges {
    std::vector<Rank> destinations, sources;
    std::vector<int> numbers;  // of each incoming edge, among the outgoing ones of its source
    std::shared_ptr<const Topology> topology;
  };
  std::vector<Edges> topology_;
  std::vector<MPI_Count> pieces_;                 // of a reduce_scatter
  std::vector<std::vector<MPI_Datatype>> types_;  // of the w-forms: one for each block
  std::vector<std::unique_ptr<Buffer>> send_, recv_, send_before_, expected_;
};

}  // namespace ashlar::sim

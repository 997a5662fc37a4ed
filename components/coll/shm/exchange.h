#pragma once
#include <atomic>
#include <cstdint>

#include "components/coll/shm/group.h"
#include "components/coll/shm/waits.h"

namespace ashlar::coll::shm {

/// A block as its sender tells of it. `where`: the distance from the beginning of the sender's place when the block
/// lies there, else its address in the sender's memory (addresses are larger than places). `taken`: whether somebody
/// copies it, its sender or its receiver: whoever comes first.
struct Outgoing {
  std::uint64_t where;
  std::uint64_t bytes;
  Rank to;
  std::atomic<std::uint32_t> taken;
};
/// The same block as its receiver tells of it. `address`: where it goes, or 0 when only the receiver can put it there.
struct Incoming {
  std::uint64_t address;
  std::uint64_t bytes;
  Rank from;
};

/// One rank's part of an exchange of blocks among all, or along the edges of a topology. Every rank tells in its place
/// where its blocks lie and where those of the others go; then each copies from and to the others' buffers whatever
/// nobody has begun with. Trivial to destroy: it lives in a coroutine.
class Exchange {
 public:
  Exchange(Op& op, const Call& call, const Visit& visit);

  /// Writes our tables, and the blocks that go through our place. To be signed.
  void offer();
  /// What stays on this rank.
  void copy_own();
  /// Once those we exchange with have signed: our blocks to whom they go, as far as nobody has fetched them, then the
  /// blocks for us, as far as nobody has brought them.
  void move();
  /// After all copies from and to our buffers are over.
  void finish();
  /// Copies that our buffers are part of; after move().
  std::uint64_t expected() const { return expected_; }
  /// Bytes that leave and reach this rank by copies between ranks; after offer().
  MPI_Count amount() const { return amount_; }

  /// Copies that a rank's buffers have been part of, with kFailed for each that went wrong. In the line of the number
  /// behind.
  static constexpr std::uint64_t kFailed = std::uint64_t{1} << 32;
  static std::atomic<std::uint64_t>& copies(const Visit& visit, std::uint64_t number, Rank r);

 private:
  struct Table;
  /// Edges to and from other ranks: the rows of both ends.
  struct Sent {
    Outgoing* mine;
    const Incoming* theirs;
  };
  struct Got {
    Rank from;
    int block;
    Outgoing* theirs;
  };

  bool neighbours() const { return call_.topology != nullptr; }
  int sent_blocks() const;
  int got_blocks() const;
  Rank receiver(int block) const { return neighbours() ? call_.topology->destinations()[index(block)] : block; }
  Rank sender(int block) const { return neighbours() ? call_.topology->sources()[index(block)] : block; }
  /// The i-th block that is received, in the order in which those of one sender match.
  int in_order(int i) const;
  /// How many blocks before this one go to (come from) the same rank, in the order in which they match.
  int earlier_to(int block) const;
  int earlier_from(int step) const;
  /// The row of a table that is its rank's n-th to, or from, this one; -1: there is none.
  static int nth_to(const Table& table, Rank to, int n);
  int nth_from(const Table& table, Rank from, int n) const;
  void no_such_edge(Rank other, int told);
  DataView outgoing(int block) const;
  std::uint64_t put(const DataView& block, MPI_Count* used);
  void match();
  void hand_out();
  void hand_to_all(Sent* const* takers, int count);
  void fetch(const Got& edge);
  bool fits(const Got& edge, const DataView& block);
  static bool take(Outgoing& row);
  bool lies_in_place(std::uint64_t where) const { return where < static_cast<std::uint64_t>(room_); }
  void copied(Rank from, Rank to);
  void copy_within(const DataView& from, const DataView& to);
  void copy_dense(const void* from, void* to, MPI_Count bytes);
  bool has_twin(int block) const;
  void fetch_twins(int first);
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  Op& op_;
  const Call& call_;
  const Visit& visit_;
  const bool same_for_all_;
  const MPI_Count room_;
  const MPI_Count small_;
  Sent* const sent_;
  Got* const got_;
  int sent_count_ = 0, got_count_ = 0;
  std::uint64_t expected_ = 0;
  MPI_Count amount_ = 0;
  Status wrong_;  // of a block that is not as long as it should be; the others are copied nevertheless
};

/// Until all copies that our buffers are part of are over.
struct CopiesWait : VisitWait {
  const std::atomic<std::uint64_t>* count;
  std::uint64_t expected;

  CopiesWait(const Op& op, const Visit& of, std::uint64_t all);
  bool seen() const { return (count->load(std::memory_order_acquire) & (Exchange::kFailed - 1)) == expected; }
  bool all_went_well() const { return count->load(std::memory_order_relaxed) < Exchange::kFailed; }

 private:
  static bool look(Condition& self);
};

}  // namespace ashlar::coll::shm

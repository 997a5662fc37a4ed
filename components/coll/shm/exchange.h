#pragma once
#include <atomic>
#include <cstdint>

#include "components/coll/shm/choices.h"
#include "components/coll/shm/exchange_table.h"
#include "components/coll/shm/segment/waits.h"

namespace ashlar::coll::shm {

/// One rank's part of an exchange of blocks among all, or along the edges of a topology. Every rank publishes a table
/// of where its blocks lie and where those for it go; then each copies from and to the others' buffers whatever no
/// other rank has claimed. Both ends count each copy, and no rank leaves before all copies from and to its buffers are
/// counted. A rank never writes more into another's buffer than that one has listed.
/// Uses two numbers: the tables lie in the slot of the first, the counts in that of the second.
/// Trivial to destroy: it lives in a coroutine.
class Exchange {
 public:
  Exchange(Op& op, const Call& call, const Ticket& ticket, const Choices& choices);

  /// Writes this rank's table, and the blocks that go through its bounce buffer. The caller publishes.
  void write_table();
  /// Copies what stays on this rank.
  void copy_own();
  /// Along the edges to and from ranks that have published since the last time: this rank's blocks to their receivers,
  /// and the blocks for this rank from their senders, as far as the other end has not claimed them.
  void copy_available();
  /// Whether a rank has published since; and whether none is left that has not.
  bool any_new() const;
  bool complete() const { return to_see_ == 0; }
  /// Every rank is known to have published.
  void set_all_published() { all_published_ = true; }
  /// After all copies from and to this rank's buffers: notes what was wrong with a block.
  void finish();
  /// Copies between ranks that this rank's buffers are part of; after copy_available().
  std::uint64_t expected() const { return expected_; }
  /// Whether there is so much to copy that a rank need not wait for all before it begins. A block for every rank is
  /// best written to all at once, as long as the caches hold it.
  bool begins_early() const;

  /// In the line of the second number: copies that a rank's buffers have been part of, with kFailed for each that
  /// failed.
  static constexpr std::uint64_t kFailed = std::uint64_t{1} << 32;
  static std::atomic<std::uint64_t>& copies(const SegmentLayout& layout, std::uint64_t number, Rank r);

 private:
  /// With more edges than that, a rank does not look for several from the same rank (Choices::read_once).
  static constexpr int kMostEdgesSearched = 16;
  /// Edges to and from other ranks: the rows of both ends.
  struct Sent {
    SendRow* mine;
    const RecvRow* theirs;
  };
  struct Received {
    Rank from;
    int block;
    SendRow* theirs;
  };

  // exchange.cc: tables, and which rows belong together
  DataView outgoing(int block) const;
  std::uint64_t store_block(const DataView& block, MPI_Count* used);
  void write_send_rows(const Table& mine);
  void write_recv_rows(const Table& mine);
  bool make_lists();
  bool is_new(int edge, Rank other) const;
  void match_new_edges();
  void no_such_edge(Rank other, bool unable);
  /// Whether the block comes from its sender along another edge as well (Choices::read_once).
  bool comes_twice(int block) const;
  bool in_buffer(std::uint64_t where) const { return where < static_cast<std::uint64_t>(buffer_bytes_); }

  // exchange_copies.cc: copies
  void read_all();
  void write_to_all(int first);
  void write_one(const Sent& edge);
  void read(const Received& edge);
  void read_once(int first);
  bool begin_write(const Sent& edge);
  bool fits(const Received& edge, const DataView& block);
  static bool claim(SendRow& row);
  void count_copy(Rank from, Rank to);
  void copy_own_edges();
  void copy_within(const DataView& from, const DataView& to);
  void copy_dense(const void* from, void* to, MPI_Count bytes);

  Op& op_;
  const Call& call_;
  const Ticket& ticket_;
  const Choices& choices_;
  const Edges edges_;
  const bool same_for_all_;  // one block for every receiver
  const MPI_Count buffer_bytes_;
  const MPI_Count small_block_;
  Sent* sent_ = nullptr;
  Received* received_ = nullptr;
  bool* seen_ = nullptr;  // of each outgoing edge, then of each incoming one: nothing is left to match
  int sent_count_ = 0, received_count_ = 0;
  int to_see_ = 0;  // edges that are not seen
  bool all_published_ = false;
  std::uint64_t expected_ = 0;
  MPI_Count amount_ = 0;  // bytes that leave and reach this rank by copies between ranks
  Status wrong_;          // of a block that is not as long as its receiver expects; the others are copied nevertheless
};

/// Until a rank has published along whose edges nothing has been copied yet.
struct TablesWait : TicketWait {
  const Exchange* exchange;

  TablesWait(const Ticket& of, const Exchange& ours) : TicketWait(of), exchange(&ours) {
    holds = &TicketWait::poll_flags<TablesWait>;
  }
  bool seen() const { return exchange->any_new(); }
};

/// Until all copies are over that this rank's buffers are part of. The ticket is at the second number.
struct CopiesWait : TicketWait {
  const std::atomic<std::uint64_t>* count;
  std::uint64_t expected;

  CopiesWait(const Ticket& of, std::uint64_t all)
      : TicketWait(of), count(&Exchange::copies(of.layout(), of.number, of.member->me)), expected(all) {
    holds = &TicketWait::poll_flags<CopiesWait>;
  }
  bool seen() const { return (count->load(std::memory_order_acquire) & (Exchange::kFailed - 1)) == expected; }
  bool all_succeeded() const { return count->load(std::memory_order_relaxed) < Exchange::kFailed; }
};

}  // namespace ashlar::coll::shm

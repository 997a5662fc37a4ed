#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "framework/coll/co.h"
#include "framework/coll/wire.h"
#include "framework/io/carried.h"
#include "framework/io/far.h"
#include "framework/io/file.h"
#include "framework/io/plan.h"
#include "framework/io/range_lock.h"
#include "framework/io/stream.h"
#include "framework/io/transfer.h"
#include "framework/io/window.h"
#include "framework/io/worker.h"

namespace ashlar::coll {
class Op;
}
namespace ashlar::io {

struct Together;

/// The transfers of a collective access, made in the call or by a thread of the library.
struct MoveJob final : Job {
  enum class Work : unsigned char { kOwn, kWriteWindow, kReadWindow, kVerify, kLock, kWriteFar, kReadFar };
  explicit MoveJob(Together& of) : access(of) {}
  void run() override;
  void over() override;
  void move_far_window();

  Together& access;
  Work work = Work::kOwn;
  std::uint64_t round = 0;  // of a window
  Gate* gate = nullptr;
};

/// One process's part of a collective access, from its call to its end. Processes of one node meet in the slots of the
/// file's SharedBlock, and exchange no message; others exchange messages (far.h). A failure is a value: its process
/// takes every further step.
struct Together {
  Together(const char* call, const Transfer& transfer);
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  const char* const call;
  Transfer what;
  Stream stream;
  Carried failure;      // of this process
  MPI_Count moved = 0;  // bytes of the buffer
  std::uint64_t number = 0;
  Plan plan;
  std::uint64_t bytes_seen = 0;        // bytes of the stream that windows have brought
  std::byte* windows = nullptr;        // two, with their masks, in this process's heap
  std::uint64_t expected[2] = {0, 0};  // RankSlot::visits of this process's windows in the present round of each
  std::optional<RangeLock> range;      // in atomic mode, on rank 0: of the data of all
  bool blocking = false;
  bool placed = false;          // an access in the order of the ranks has its place
  std::optional<MapWish> wish;  // where a mapping could move this process's part
  double cost_together = 0;     // nanoseconds, by estimate
  MoveJob job{*this};
  std::unique_ptr<Far> far;  // where the processes share no memory

  OpenFile& file() const { return what.file; }
  RankSlot& own() const { return slot(file().comm->rank); }
  RankSlot& slot(Rank rank) const { return file().shared->slot(rank); }
  /// Keeps the first one.
  void note(Status status) {
    if (!status.ok() && failure.ok()) failure.take(status);
  }

  Rank aggregator(std::uint32_t index) const {
    return static_cast<Rank>(std::uint64_t{index} * static_cast<std::uint64_t>(file().comm->size) / plan.aggregators);
  }
  /// This process's number among them; as many as there are: it is none.
  std::uint32_t own_index() const;
  std::uint64_t window_begin(std::uint64_t round, std::uint32_t index) const {
    return plan.first + (round * plan.aggregators + index) * plan.window;
  }
  bool visits(Rank rank, std::uint64_t begin) const;
  /// Of ranks below `limit`.
  std::uint64_t visitors(std::uint64_t begin, Rank limit) const;
  std::uint64_t visitors(std::uint64_t begin) const { return visitors(begin, file().comm->size); }
  /// In atomic mode pieces of several processes may lie at the same bytes: those of the highest rank remain everywhere.
  bool ordered() const { return file().atomic && what.writes; }
  Window window(Rank of, std::uint64_t round, std::uint32_t index) const;

  /// Stores what the others must know.
  void publish();
  /// Of an access in the order of the ranks (turns.cc). The last process that arrives places the data of all, before
  /// the others know that it has arrived; then each takes its place.
  void arrive_in_turn();
  void take_place();
  /// Makes `far`, with this process's facts; of a call that moves no data, which one it is. False: no memory.
  bool meet_far(bool moves);
  const Facts& facts_of(Rank rank) const {
    return far != nullptr ? far->told[static_cast<std::size_t>(rank)].facts : slot(rank).facts;
  }
  /// When all have.
  void decide();
  /// Counts for a mapping of this process's part what it would have saved. `took`: nanoseconds of the moves; 0: not
  /// known.
  void count_for_mapping(double took);
  /// Whether they make different calls; then `failure` says so, on all of them.
  bool calls_differ() const;
  /// Whether all read again what they have written; the same on all.
  bool verifies() const;
  /// Makes this process's windows, where it is an aggregator.
  void make_windows();
  /// When all have: false, on all alike, where one has no memory for them.
  bool have_windows() const;
  /// Maps those of the others.
  void map_windows();
  bool all_mapped() const;
  void drop_windows();
  /// Copies this process's part of a window to it, or from it.
  void fill(std::uint64_t round, std::uint32_t index);
  void take(std::uint64_t round, std::uint32_t index);
  Facts own_facts();
  /// Of the buffer.
  MPI_Count bytes_moved() const;
  /// The failure of this process, or of the lowest rank that failed. When all are over.
  Status result() const;
};

/// A wait for memory of other processes.
struct Meeting : coll::Condition {
  enum class Until : unsigned char {
    kTurn,     // the collective accesses of this process before this one are over
    kArrived,  // all processes have called it
    kReady,    // all have made their windows
    kMapped,   // all have mapped those of the others
    kWritten,  // all have written their data
    kOver,     // all have done their part
    kTurned,   // a window may be filled, or has been
    kLower,    // the processes of lower ranks have filled it
    kVisited   // all are done with this process's window
  };
  Meeting(const Together& of, Until what);
  Meeting(const Together& of, Until what, Rank which, std::uint64_t value);
  /// kLower of window `index` in `round`.
  static Meeting lower(const Together& of, std::uint64_t round, std::uint32_t index);
  bool seen();
  void over(Status outcome_of_wait);

  const Together* access;
  Until until;
  Rank rank = 0;  // the next that is not seen yet, or whose window it is
  std::uint64_t wanted = 0;
  std::uint64_t visits = 0;  // kLower
  bool announced = false;
};

/// Tells processes that may sleep that memory has changed.
void wake(const Together& access, coll::Wire& wire);

/// The access, in all its forms: run_far() where the processes share no memory. Under the lane's lock.
coll::Co run_together(coll::Op& op, Together& access);
/// The rounds of two-phase transfers.
coll::Co write_rounds(coll::Op& op, Together& access);
coll::Co read_rounds(coll::Op& op, Together& access);
/// Makes a transfer: at once in a blocking call, without the lane's lock; else it is counted on `gate`.
void submit(coll::Op& op, Together& access, MoveJob::Work work, std::uint64_t round, Gate& gate);

}  // namespace ashlar::io

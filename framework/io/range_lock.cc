#include "framework/io/range_lock.h"

#include <algorithm>
#include <climits>

#include "framework/base/failure.h"
#include "framework/io/file.h"
#include "framework/plugin/host.h"
#include "framework/rma/patience.h"

namespace ashlar::io {
namespace {

enum : std::uint32_t { kFree, kSettling, kHolds };  // RankSlot::range_state; settling: the range is not known yet

bool meet(std::uint64_t first, std::uint64_t end, std::uint64_t other_first, std::uint64_t other_end) {
  return first < other_end && other_first < end;
}

/// Whether the short path of that process has a part of the range.
bool in_way(const RankSlot& slot, std::uint64_t first, std::uint64_t end) {
  const std::uint32_t state = slot.range_state.load(std::memory_order_seq_cst);
  if (state != kHolds) return state == kSettling;
  return meet(first, end, slot.range_first.load(std::memory_order_relaxed),
              slot.range_end.load(std::memory_order_relaxed));
}

}  // namespace

RangeLock::RangeLock(OpenFile& file, Kind kind, std::uint64_t first, std::uint64_t end)
    : file_(file), exclusive_(kind == Kind::kExclusive) {
  if (first >= end) return;
  if (file.shared == nullptr) {
    if (file.atomic) take_of_file_system(first, end);
    return;
  }
  if (!exclusive_ && take_slot(first, end)) return;
  take_entry(first, end);
}

// The range is stored before `exclusives` is read, and who wants a range exclusively raises `exclusives` before it
// reads the slots: one of the two sees the other.
bool RangeLock::take_slot(std::uint64_t first, std::uint64_t end) {
  SharedBlock& block = *file_.shared;
  RankSlot& slot = block.slot(file_.comm->rank);
  if (block.exclusives.load(std::memory_order_relaxed) != 0) return false;
  std::uint32_t seen = kFree;
  if (!slot.range_state.compare_exchange_strong(seen, kSettling, std::memory_order_acquire)) return false;
  slot.range_first.store(first, std::memory_order_relaxed);
  slot.range_end.store(end, std::memory_order_relaxed);
  slot.range_state.store(kHolds, std::memory_order_seq_cst);
  held_ = Held::kSlot;
  if (block.exclusives.load(std::memory_order_seq_cst) == 0) return true;
  slot.range_state.store(kFree, std::memory_order_seq_cst);
  held_ = Held::kNothing;
  tell();
  return false;
}

// Who is about to sleep counts itself first, and the system lets it sleep only if `changes` is still the same. Who
// gives a range up changes that first, and then looks for sleepers.
void RangeLock::take_entry(std::uint64_t first, std::uint64_t end) {
  SharedBlock& block = *file_.shared;
  if (exclusive_) block.exclusives.fetch_add(1, std::memory_order_seq_cst);
  rma::Patience patience;
  for (;;) {
    const std::uint32_t before = block.changes.load(std::memory_order_seq_cst);
    if (try_entry(first, end)) return;
    while (block.changes.load(std::memory_order_seq_cst) == before) {
      const bool sleeps = patience.about_to_sleep();
      if (sleeps) block.sleeping.fetch_add(1, std::memory_order_seq_cst);
      patience.round(block.changes, before);
      if (sleeps) block.sleeping.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

bool RangeLock::try_entry(std::uint64_t first, std::uint64_t end) {
  SharedBlock& block = *file_.shared;
  const BlockLock guard(&block.table_lock);
  unsigned free = SharedBlock::kHeld;
  for (unsigned i = 0; i < SharedBlock::kHeld; ++i) {
    const HeldRange& one = block.held[i];
    if (one.first == one.end) {
      if (free == SharedBlock::kHeld) free = i;
    } else if ((exclusive_ || one.exclusive) && meet(first, end, one.first, one.end)) {
      return false;
    }
  }
  if (free == SharedBlock::kHeld) return false;
  if (exclusive_) {
    for (Rank rank = 0; rank < file_.comm->size; ++rank)
      if (in_way(block.slot(rank), first, end)) return false;
  }
  block.held[free] = {.first = first, .end = end, .exclusive = exclusive_};
  held_ = Held::kEntry;
  entry_ = free;
  return true;
}

// A lock of the file system is the open file's, and so the process's: its threads take turns.
void RangeLock::take_of_file_system(std::uint64_t first, std::uint64_t end) {
  constexpr std::uint64_t kMost = INT64_MAX;
  first_ = first;
  bytes_ = std::min(end, kMost) - first;
  file_.locking.lock();
  held_ = Held::kFileSystem;
  if (file_.bytes->ops->lock(file_.bytes, first_, bytes_) == ASHLAR_OK) return;
  file_.locking.unlock();
  held_ = Held::kRefused;
}

Status RangeLock::refused() const {
  return held_ == Held::kRefused ? fail(MPI_ERR_IO, "io.lock_refused", {{"path", file_.path}, {"offset", first_}})
                                 : Status();
}

bool file_system_locks(OpenFile& file) {
  const ashlar_io_file_ops& ops = *file.bytes->ops;
  if (!ASHLAR_HAS(&ops, unlock) || ops.lock == nullptr || ops.lock(file.bytes, 0, 1) != ASHLAR_OK) return false;
  ops.unlock(file.bytes, 0, 1);
  return true;
}

/// Somebody may wait for what was given up.
void RangeLock::tell() const {
  SharedBlock& block = *file_.shared;
  block.changes.fetch_add(1, std::memory_order_seq_cst);
  if (block.sleeping.load(std::memory_order_seq_cst) != 0) rma::wake(block.changes, INT_MAX);
}

RangeLock::~RangeLock() {
  if (held_ == Held::kNothing || held_ == Held::kRefused) return;
  if (held_ == Held::kFileSystem) {
    file_.bytes->ops->unlock(file_.bytes, first_, bytes_);
    file_.locking.unlock();
    return;
  }
  SharedBlock& block = *file_.shared;
  if (held_ == Held::kSlot) {
    block.slot(file_.comm->rank).range_state.store(kFree, std::memory_order_seq_cst);
    if (block.exclusives.load(std::memory_order_seq_cst) == 0) return;
  } else {
    const BlockLock guard(&block.table_lock);
    block.held[entry_] = {};
    if (exclusive_) block.exclusives.fetch_sub(1, std::memory_order_seq_cst);
  }
  tell();
}

}  // namespace ashlar::io

#include "mpiexec/stall_watch.h"

#include <algorithm>

namespace ashlar::mpiexec {
namespace {

using launch::BoardSlot;
using launch::RankEnd;
using launch::RankState;

// Nanoseconds.
constexpr std::uint64_t kLongestInterval = 1'000'000'000, kShortestInterval = 20'000'000;
constexpr std::uint64_t kSleep = 100'000'000;  // a rank that sleeps in a wait looks around more often than this

}  // namespace

StallWatch::StallWatch(launch::BoardHeader* board, std::uint64_t limit_ns, std::uint64_t now)
    : board_(board),
      limit_ns_(limit_ns),
      interval_ns_(std::clamp(limit_ns / 10, kShortestInterval, kLongestInterval)),
      seen_(board->ranks),
      looked_ns_(now),
      moved_ns_(now) {}

bool StallWatch::look(std::uint64_t now) {
  // mpiexec itself was stopped, and its ranks perhaps too: nothing is known of the time between.
  if (now - looked_ns_ > 3 * interval_ns_ + kLongestInterval) moved_ns_ = now;
  looked_ns_ = now;
  const std::uint64_t recently = now - 2 * interval_ns_ - kSleep;
  bool inside = false;
  std::uint64_t moved = 0;
  for (std::uint32_t r = 0; r < board_->ranks; ++r) {
    BoardSlot& slot = launch::board_slot(board_, r);
    const Seen seen = {.state = slot.state.load(), .fences = slot.fences.load(), .end = slot.end.load()};
    if (!(seen == seen_[r])) moved_ns_ = now;
    seen_[r] = seen;
    if (seen.end != static_cast<std::uint32_t>(RankEnd::kRuns)) continue;
    const auto state = static_cast<RankState>(seen.state);
    inside = inside || state == RankState::kAttached;
    if (state != RankState::kInitialized) continue;
    const std::uint64_t heard = slot.heard_ns.load();
    inside = inside || heard >= recently;
    moved = std::max(moved, slot.moved_ns.load());
    // It was in a call that did not wait, and has left MPI since then.
    if (slot.waits.load() == 0 && heard < recently) moved = std::max(moved, heard);
  }
  moved = std::max(moved, moved_ns_);
  if (told_ns_ != 0 && moved > told_ns_) told_ns_ = 0;
  if (told_ns_ != 0 || !inside || now < moved + limit_ns_) return false;
  told_ns_ = now;
  return true;
}

}  // namespace ashlar::mpiexec

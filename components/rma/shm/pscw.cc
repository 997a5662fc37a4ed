#include <atomic>
#include <cstdio>

#include "components/rma/shm/state.h"

// Post and complete count in one word per pair and direction, which one process writes, beside its others. Groups of
// successive epochs may differ, so one count for a window would take a post of the next epoch for one of this.
namespace ashlar::rma::shm {
namespace {

/// Until a pair's word has come as far.
class PairWait final : public SharedCondition {
 public:
  PairWait(RmaWindow& of, const Control& block, const std::atomic<std::uint8_t>& word, std::uint8_t wanted, Rank rank,
           const char* call, const char* awaited)
      : SharedCondition(of, block, call, Sleep::kPair), word_(word), wanted_(wanted), rank_(rank), awaited_(awaited) {}
  bool holds() override { return static_cast<std::int8_t>(word_.load(std::memory_order_acquire) - wanted_) >= 0; }
  Rank awaited() const override { return rank_; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "until rank %d calls %s", rank_, awaited_);
  }

 private:
  const std::atomic<std::uint8_t>& word_;
  const std::uint8_t wanted_;
  const Rank rank_;
  const char* const awaited_;
};

/// Of a word that this process alone writes.
void count_up(std::atomic<std::uint8_t>& word) {
  word.store(static_cast<std::uint8_t>(word.load(std::memory_order_relaxed) + 1), std::memory_order_release);
}

}  // namespace

Status SharedSync::post(std::span<const Rank> origins, bool) {
  for (const Rank origin : origins) {
    count_up(control_.pair(window_.me, origin).posted);
    wake_sleeper(window_, control_, Sleep::kPair, origin);
  }
  return {};
}

Status SharedSync::start(std::span<const Rank> targets, bool no_check) {
  for (const Rank target : targets) {
    if (no_check) continue;
    const std::uint8_t epochs = control_.pair(window_.me, target).completed.load(std::memory_order_relaxed);
    PairWait posted(window_, control_, control_.pair(target, window_.me).posted, static_cast<std::uint8_t>(epochs + 1),
                    target, "MPI_Win_start", "MPI_Win_post");
    ASHLAR_TRY(wait(window_, posted));
  }
  return {};
}

Status SharedSync::complete(std::span<const Rank> targets) {
  for (const Rank target : targets) {
    count_up(control_.pair(window_.me, target).completed);
    wake_sleeper(window_, control_, Sleep::kPair, target);
  }
  return {};
}

Status SharedSync::exposure_over(std::span<const Rank> origins, bool waits, bool* over) {
  *over = false;
  for (const Rank origin : origins) {
    const std::uint8_t posted = control_.pair(window_.me, origin).posted.load(std::memory_order_relaxed);
    PairWait completed(window_, control_, control_.pair(origin, window_.me).completed, posted, origin, "MPI_Win_wait",
                       "MPI_Win_complete");
    if (completed.holds()) continue;
    if (!waits) return {};
    ASHLAR_TRY(wait(window_, completed));
  }
  *over = true;
  return {};
}

Guard SharedSync::guard(Rank target) {
  return {.kind = window_.areas[target].in_heap() ? Guard::Kind::kElements : Guard::Kind::kLocked,
          .line = &control_.target(target).updates,
          .origins = control_.origins(),
          .own = static_cast<std::uint32_t>(window_.me),
          .count = control_.ranks(),
          .range = ranges_};
}

}  // namespace ashlar::rma::shm

#include <atomic>
#include <cstdio>

#include "components/rma/shm/state.h"
#include "framework/base/prefetch.h"

// Post and complete count in one word per pair and direction, which one process writes, beside its others. Groups of
// successive epochs may differ, so one count for a window would take a post of the next epoch for one of this. A
// process that has heard of another has most often been heard by it, too: it takes the line of its own words back
// before its next call writes there.
namespace ashlar::rma::shm {
namespace {

/// Until a rank has posted to this process, or has completed its epoch to it, as often.
class PairWait final : public SharedCondition {
 public:
  PairWait(RmaWindow& of, const Control& block, PairWord::Count count, unsigned wanted, Rank rank)
      : SharedCondition(of, block, count == PairWord::kPosted ? "MPI_Win_start" : "MPI_Win_wait", Sleep::kPair),
        word_(block.pair(rank, of.me)),
        count_(count),
        wanted_(wanted),
        rank_(rank) {}
  bool holds() override { return word_.reached(count_, wanted_); }
  Rank awaited() const override { return rank_; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "until rank %d calls %s", rank_,
                  count_ == PairWord::kPosted ? "MPI_Win_post" : "MPI_Win_complete");
  }

 private:
  const PairWord& word_;
  const PairWord::Count count_;
  const unsigned wanted_;
  const Rank rank_;
};

}  // namespace

Status SharedSync::post(std::span<const Rank> origins, bool) {
  for (const Rank origin : origins) {
    control_.pair(window_.me, origin).count_up(PairWord::kPosted);
    wake_sleeper(window_, control_, Sleep::kPair, origin);
  }
  return {};
}

Status SharedSync::start(std::span<const Rank> targets, bool no_check) {
  for (const Rank target : targets) {
    if (no_check) continue;
    const unsigned epochs = control_.pair(window_.me, target).get(PairWord::kCompleted, std::memory_order_relaxed);
    if (control_.pair(target, window_.me).reached(PairWord::kPosted, epochs + 1)) continue;
    PairWait posted(window_, control_, PairWord::kPosted, epochs + 1, target);
    ASHLAR_TRY(wait(window_, posted));
    prefetch_to_write(&control_.pair(window_.me, target));
  }
  return {};
}

Status SharedSync::complete(std::span<const Rank> targets) {
  for (const Rank target : targets) {
    control_.pair(window_.me, target).count_up(PairWord::kCompleted);
    wake_sleeper(window_, control_, Sleep::kPair, target);
  }
  return {};
}

Status SharedSync::exposure_over(std::span<const Rank> origins, bool waits, bool* over) {
  *over = false;
  for (const Rank origin : origins) {
    const unsigned posts = control_.pair(window_.me, origin).get(PairWord::kPosted, std::memory_order_relaxed);
    if (control_.pair(origin, window_.me).reached(PairWord::kCompleted, posts)) continue;
    if (!waits) return {};
    PairWait completed(window_, control_, PairWord::kCompleted, posts, origin);
    ASHLAR_TRY(wait(window_, completed));
    prefetch_to_write(&control_.pair(window_.me, origin));
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
          .range = RangeLimits::of(Engine::current().config.get().range_elements, window_.hints.granularity)};
}

}  // namespace ashlar::rma::shm

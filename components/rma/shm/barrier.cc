#include <cstdio>

#include "components/rma/shm/state.h"
#include "framework/base/prefetch.h"

namespace ashlar::rma::shm {
namespace {

/// Until the barrier is over.
class BarrierWait final : public SharedCondition {
 public:
  BarrierWait(RmaWindow& of, const Control& block, const char* call, std::uint32_t now)
      : SharedCondition(of, block, call, Sleep::kBarrier), before_(now) {}
  bool holds() override { return control.header().generation.load(std::memory_order_acquire) != before_; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for all processes (%u of %u have come)",
                  control.header().arrived.load(std::memory_order_relaxed), control.ranks());
  }

 private:
  const std::uint32_t before_;
};

/// Until a process has come to a round.
class RoundWait final : public SharedCondition {
 public:
  RoundWait(RmaWindow& of, const Control& block, const char* call, Rank rank, std::uint32_t round)
      : SharedCondition(of, block, call, Sleep::kBarrier), rank_(rank), round_(round) {}
  bool holds() override {
    const std::uint32_t come = control.rank(rank_).rounds.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(come - round_) >= 0;
  }
  Rank awaited() const override { return rank_; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for rank %d to come to the barrier", rank_);
  }

 private:
  const Rank rank_;
  const std::uint32_t round_;
};

}  // namespace

// Where ranks share cores each is scheduled once: the last one to arrive lets all others go. Where each has its core, a
// dissemination barrier (Hensgen, Finkel and Manber 1988): in its round n each process waits for the one 2^n before it.
// No line is written by two processes, so that a round moves one line to each, and one back before the next round.
Status SharedSync::barrier(const char* call) {
  if (control_.header().central.load(std::memory_order_relaxed) != 0) return central_barrier(call);
  const std::uint32_t ranks = control_.ranks();
  const auto me = static_cast<std::uint32_t>(window_.me);
  RankLine& own = control_.rank(window_.me);
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
    const std::uint32_t round = own.rounds.load(std::memory_order_relaxed) + 1;
    own.rounds.store(round, std::memory_order_release);
    wake_sleeper(window_, control_, Sleep::kBarrier, static_cast<Rank>((me + distance) % ranks));
    RoundWait come(window_, control_, call, static_cast<Rank>((me + ranks - distance) % ranks), round);
    ASHLAR_TRY(wait(window_, come));
    prefetch_to_write(&own);
  }
  return {};
}

Status SharedSync::central_barrier(const char* call) {
  ControlHeader& header = control_.header();
  const std::uint32_t now = header.generation.load(std::memory_order_relaxed);
  if (header.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == control_.ranks()) {
    header.arrived.store(0, std::memory_order_relaxed);
    header.generation.store(now + 1, std::memory_order_release);
    wake_sleepers(window_, control_, Sleep::kBarrier);
    return {};
  }
  BarrierWait over(window_, control_, call, now);
  return wait(window_, over);
}

}  // namespace ashlar::rma::shm

#include <cstdio>

#include "components/rma/shm/state.h"

namespace ashlar::rma::shm {
namespace {

/// Until the barrier is over.
class BarrierWait final : public SharedCondition {
 public:
  BarrierWait(RmaWindow& of, const Control& block, std::uint32_t now)
      : SharedCondition(of, block, Sleep::kBarrier), before_(now) {}
  bool holds() override { return control.header().generation.load(std::memory_order_acquire) != before_; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for all processes (%u of %u have come)",
                  control.header().arrived.load(std::memory_order_relaxed), control.ranks());
  }

 private:
  const std::uint32_t before_;
};

}  // namespace

// Central: where ranks share cores, each is scheduled once. The last one to arrive lets all others go.
Status SharedSync::barrier() {
  ControlHeader& header = control_.header();
  const std::uint32_t now = header.generation.load(std::memory_order_relaxed);
  if (header.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == control_.ranks()) {
    header.arrived.store(0, std::memory_order_relaxed);
    header.generation.store(now + 1, std::memory_order_release);
    wake_sleepers(window_, control_, Sleep::kBarrier);
    return {};
  }
  BarrierWait over(window_, control_, now);
  return wait(window_, over);
}

}  // namespace ashlar::rma::shm

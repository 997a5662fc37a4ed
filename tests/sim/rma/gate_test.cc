// The gate between updates of elements and of ranges, and the update lock: the library's code, with ranks that lose
// their core inside an update.
#include <gtest/gtest.h>

#include "framework/base/process_barrier.h"
#include "framework/rma/range_gate.h"
#include "framework/rma/update_lock.h"
#include "tests/sim/extent.h"
#include "tests/sim/rma/fibers.h"

namespace ashlar::sim {
namespace {

using rma::Guard;

struct Memory {
  explicit Memory(int ranks) : origins(static_cast<std::size_t>(ranks)) {}
  Guard guard(Rank rank) {
    return {.kind = Guard::Kind::kElements,
            .line = &line,
            .origins = origins.data(),
            .own = static_cast<std::uint32_t>(rank),
            .count = static_cast<std::uint32_t>(origins.size())};
  }
  rma::UpdateLine line = {};
  std::vector<rma::OriginLine> origins;
  int elements = 0, ranges = 0, locked = 0;  // inside
};

void turns(Fibers& fibers, std::uint64_t most) {
  for (std::uint64_t left = fibers.random(most + 1); left > 0; --left) fibers.yield();
}

void update_elements(Fibers& fibers, Memory& memory, Rank me) {
  const Guard guard = memory.guard(me);
  const rma::ElementTurn turn(guard);
  ++memory.elements;
  EXPECT_EQ(memory.ranges, 0);
  turns(fibers, 3);
  EXPECT_EQ(memory.ranges, 0);
  --memory.elements;
}

void update_range(Fibers& fibers, Memory& memory, Rank me) {
  const Guard guard = memory.guard(me);
  rma::RangeTurn turn(guard);
  for (int piece = 0; piece < 3; ++piece) {
    if (piece != 0) turn.give_way();
    EXPECT_EQ(memory.elements, 0);
    EXPECT_EQ(++memory.ranges, 1);
    turns(fibers, 2);
    EXPECT_EQ(memory.elements, 0);
    EXPECT_EQ(memory.ranges--, 1);
  }
}

void update_locked(Fibers& fibers, Memory& memory, Rank me) {
  const Guard guard = memory.guard(me);
  const rma::UpdateLockGuard held(guard);
  EXPECT_EQ(++memory.locked, 1);
  turns(fibers, 2);
  --memory.locked;
}

struct Size {
  int ranks;
  unsigned seeds;
  int times;
};

TEST(Gate, ExcludesRangesAndElementsAndLetsAllThrough) {
  ASSERT_TRUE(register_for_barriers());
  for (const Size& size :
       {Size{2, 200, 20}, Size{4, 100, 12}, Size{32, 4, 5}, Size{at_scale(512), 1, 2}, Size{at_scale(4096), 1, 1}}) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      Fibers fibers(size.ranks, seed);
      Memory memory(size.ranks);
      const std::uint64_t kinds = size.ranks > 100 ? static_cast<std::uint64_t>(size.ranks) / 8 : 4;
      const bool all = fibers.run([&](Rank me) {
        for (int time = 0; time < size.times; ++time) {
          const std::uint64_t kind = fibers.random(kinds);
          if (kind == 0) {
            update_range(fibers, memory, me);
          } else if (kind == 1) {
            update_locked(fibers, memory, me);
          } else {
            update_elements(fibers, memory, me);
          }
        }
      });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
      if (HasFailure()) FAIL() << size.ranks << " ranks, seed " << seed;
      EXPECT_EQ(memory.line.gate.load() & ~rma::gate::kFenced & ~rma::gate::kIdle, 0u);
      EXPECT_EQ(memory.line.lock.load(), 0u);
    }
  }
}

}  // namespace
}  // namespace ashlar::sim

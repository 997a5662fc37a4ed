#include "framework/rma/target_table.h"

#include <mpi.h>

#include <limits>
#include <new>

#include "framework/base/failure.h"
#include "framework/rma/ways.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

constinit const TargetTable::Block TargetTable::empty[kEmpty] = {};

TargetTable::~TargetTable() {
  if (count_ == 0) return;
  Block* const blocks = blocks_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count_; ++i) delete[] blocks[i].load(std::memory_order_relaxed);
  delete[] blocks;
}

Status TargetTable::grow(Rank ranks) {
  const std::size_t count = (static_cast<std::size_t>(ranks) + kBlock - 1) / kBlock;
  auto* const blocks = new (std::nothrow) Block[count]();
  if (blocks == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "the targets of a window"}, {"ranks", ranks}});
  count_ = static_cast<std::uint32_t>(count);
  blocks_.store(blocks, std::memory_order_release);
  return {};
}

Status TargetTable::prepare(Rank ranks) {
  return static_cast<std::size_t>(ranks) > kEmpty * kBlock ? grow(ranks) : Status();
}

namespace {

void describe(const RmaWindow& window, Rank rank, Target* target) {
  const Area& area = window.areas[rank];
  const bool dynamic = window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC;
  target->rank = rank;
  target->size = dynamic ? std::numeric_limits<std::uint64_t>::max() : area.size;
  target->disp_unit = area.disp_unit;
  target->copies = target->updates = &unresolved;
}

}  // namespace

Status TargetTable::make(RmaWindow& window, Rank rank, Target** out) {
  const LaneGuard guard(window.lane().lock);
  if (count_ == 0) ASHLAR_TRY(grow(window.ranks));
  if ((*out = find(rank)) != nullptr) return {};  // another thread has made it
  auto* const block = new (std::nothrow) Target[kBlock];
  if (block == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the targets of a window"}});
  const Rank first = rank - rank % static_cast<Rank>(kBlock);
  for (Rank i = 0; i < static_cast<Rank>(kBlock) && first + i < window.ranks; ++i) {
    describe(window, first + i, &block[i]);
    // Threads read what the first operation to a target would otherwise change under them. A target that cannot be
    // reached fails that operation.
    if (LaneLock::threads_on()) static_cast<void>(resolve(window, block[i]));
  }
  blocks_.load(std::memory_order_relaxed)[static_cast<std::size_t>(rank) / kBlock].store(block,
                                                                                         std::memory_order_release);
  *out = block + rank % static_cast<Rank>(kBlock);
  return {};
}

}  // namespace ashlar::rma

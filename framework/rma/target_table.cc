#include "framework/rma/target_table.h"

#include <mpi.h>

#include <limits>
#include <new>

#include "framework/base/failure.h"
#include "framework/rma/ways.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

constinit const TargetTable::Entry TargetTable::empty[kEmpty] = {};

TargetTable::~TargetTable() {
  if (own_ == 0) return;
  each([](Target& target) { delete &target; });
  delete[] entries_.load(std::memory_order_relaxed);
}

Status TargetTable::grow(Rank ranks) {
  auto* const entries = new (std::nothrow) Entry[static_cast<std::size_t>(ranks)]();
  if (entries == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "the targets of a window"}, {"ranks", ranks}});
  own_ = ranks;
  entries_.store(entries, std::memory_order_release);
  return {};
}

Status TargetTable::prepare(Rank ranks) { return ranks > kEmpty ? grow(ranks) : Status(); }

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
  if (own_ == 0) ASHLAR_TRY(grow(window.ranks));
  if ((*out = find(rank)) != nullptr) return {};  // another thread has made it
  auto* const target = new (std::nothrow) Target;
  if (target == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a target of a window"}, {"peer", rank}});
  describe(window, rank, target);
  // Threads read what the first operation to a target would otherwise change under them. A target that cannot be
  // reached fails that operation.
  if (LaneLock::threads_on()) static_cast<void>(resolve(window, *target));
  entries_.load(std::memory_order_relaxed)[rank].store(target, std::memory_order_release);
  *out = target;
  return {};
}

}  // namespace ashlar::rma

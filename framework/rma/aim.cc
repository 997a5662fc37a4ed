#include "framework/rma/aim.h"

#include <limits>

#include "framework/base/failure.h"

namespace ashlar::rma {

Status bad_rank(const RmaWindow& window, const char* argument, int rank) {
  return fail(MPI_ERR_RANK, "rma.rank",
              {{"argument", argument}, {"value", rank}, {"window", window.label()}, {"last", window.ranks - 1}});
}

Status no_epoch(const RmaWindow& window, Rank target) {
  return fail(MPI_ERR_RMA_SYNC, "rma.no_epoch",
              {{"peer", target}, {"window", window.label()}, {"last", window.epochs.last}});
}

Status not_passive(const RmaWindow& window, Rank target) {
  return fail(MPI_ERR_RMA_SYNC, "rma.not_passive",
              {{"peer", target}, {"window", window.label()}, {"last", window.epochs.last}});
}

Status bad_place(const RmaWindow& window, const Target& target, MPI_Aint disp, const Place& place) {
  return fail(MPI_ERR_RMA_RANGE, "rma.range",
              {{"argument", "target_disp"},
               {"value", disp},
               {"peer", target.rank},
               {"window", window.label()},
               {"unit", target.disp_unit},
               {"count", place.count},
               {"type", place.type->described()},
               {"bytes", target.size}});
}

Status bad_amounts(const char* whose, MPI_Count bytes, MPI_Count wanted) {
  return fail(MPI_ERR_TYPE, "rma.amounts", {{"what", whose}, {"bytes_got", bytes}, {"bytes_wanted", wanted}});
}

bool touches_only(std::uint64_t size, const Place& place) {
  if (place.count == 0 || place.type->size() == 0) return true;
  const __int128 extent = place.type->extent();
  const __int128 first = static_cast<__int128>(place.offset) + place.type->true_lb();
  const __int128 last_item = (static_cast<__int128>(place.count) - 1) * extent;
  const __int128 low = extent < 0 ? first + last_item : first;
  const __int128 high = (extent < 0 ? first : first + last_item) + place.type->true_extent();
  return low >= 0 && high <= static_cast<__int128>(size);
}

}  // namespace ashlar::rma

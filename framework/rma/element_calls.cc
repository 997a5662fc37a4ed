// MPI_Fetch_and_op and MPI_Compare_and_swap: one element.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/usual.h"

namespace ashlar::rma {
namespace {

// What is left is a get_accumulate of one element.
[[gnu::noinline]] Status fetch_any(const void* origin, void* result, Datatype& type, int rank, MPI_Aint disp,
                                   ReduceOp& op, Window& win) {
  if (!type.is_predefined())
    return fail(MPI_ERR_TYPE, "rma.predefined", {{"argument", "datatype"}, {"type", type.described()}});
  return get_accumulate(origin, 1, &type, result, 1, type, rank, disp, 1, type, op, win);
}

/// The classes of datatypes that MPI_Compare_and_swap takes (MPI-5.0, 12.3.4).
bool comparable(const Datatype& type) {
  switch (type.basic_class()) {
    case BasicClass::kInteger:
    case BasicClass::kFortranInteger:
    case BasicClass::kLogical:
    case BasicClass::kMultiLanguage:
    case BasicClass::kByte:
      return true;
    default:
      return false;
  }
}

[[gnu::noinline]] Status swap_any(const void* origin, const void* compare, void* result, Datatype& type, int rank,
                                  MPI_Aint disp, Window& win) {
  if (!comparable(type))
    return fail(MPI_ERR_TYPE, "rma.not_comparable", {{"argument", "datatype"}, {"type", type.described()}});
  RmaWindow& window = of(win);
  Target* target = nullptr;
  Place place{.offset = 0, .count = 1, .type = &type};
  ASHLAR_TRY(aim(window, rank, disp, &place, &target));
  if (target == nullptr) return {};
  return target->updates->update({.window = window,
                                  .target = *target,
                                  .op = datatype::predefined_op(MPI_REPLACE),
                                  .element = type,
                                  .origin = DataView::of(origin, 1, type),
                                  .result = {.data = result, .count = 1, .type = &type},
                                  .place = place,
                                  .compare = compare,
                                  .done = nullptr});
}

}  // namespace

Status fetch_and_op(const void* origin, void* result, Datatype& type, int rank, MPI_Aint disp, ReduceOp& op,
                    Window& win) {
  if (update_usual(of(win), origin, result, 1, type, rank, disp, op)) [[likely]]
    return {};
  return fetch_any(origin, result, type, rank, disp, op, win);
}

Status compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int rank, MPI_Aint disp,
                        Window& win) {
  if (comparable(type) && swap_usual(of(win), origin, compare, result, type, rank, disp)) [[likely]]
    return {};
  return swap_any(origin, compare, result, type, rank, disp, win);
}

}  // namespace ashlar::rma

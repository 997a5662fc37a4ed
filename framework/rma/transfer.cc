// MPI_Put, MPI_Get and their request-based forms.
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/apply.h"
#include "framework/rma/request.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
Status put(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  RmaWindow& window = of(win);
  Target* target = nullptr;
  Place place{.offset = 0, .count = target_count, .type = &target_type};
  ASHLAR_TRY(aim(window, rank, disp, &place, &target));
  if (target == nullptr) return {};
  ASHLAR_TRY(check_amounts("the origin", count, type, place));
  const DataView from = DataView::of(origin, count, type);
  if (target->memory != nullptr) [[likely]] {
    put(target->memory, from, place);
    return {};
  }
  return target->copies->put({.window = window, .target = *target, .origin = from, .place = place, .done = nullptr});
}

Status get(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  RmaWindow& window = of(win);
  Target* target = nullptr;
  Place place{.offset = 0, .count = target_count, .type = &target_type};
  ASHLAR_TRY(aim(window, rank, disp, &place, &target));
  if (target == nullptr) return {};
  ASHLAR_TRY(check_amounts("the origin", count, type, place));
  const DataView to{.data = origin, .count = count, .type = &type};
  if (target->memory != nullptr) [[likely]] {
    get(target->memory, to, place);
    return {};
  }
  return target->copies->get({.window = window, .target = *target, .origin = to, .place = place, .done = nullptr});
}

Status rput(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_passive(window, rank));
  Target* target = nullptr;
  Place place{.offset = 0, .count = target_count, .type = &target_type};
  ASHLAR_TRY(aim(window, rank, disp, &place, &target));
  if (target == nullptr) return complete_request(window, request);
  ASHLAR_TRY(check_amounts("the origin", count, type, place));
  return with_request("MPI_Rput", window, *target, copies_of(window, *target), request, [&](Gate* gate) {
    return target->copies->put({.window = window,
                                .target = *target,
                                .origin = DataView::of(origin, count, type),
                                .place = place,
                                .done = gate});
  });
}

Status rget(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_passive(window, rank));
  Target* target = nullptr;
  Place place{.offset = 0, .count = target_count, .type = &target_type};
  ASHLAR_TRY(aim(window, rank, disp, &place, &target));
  if (target == nullptr) return complete_request(window, request);
  ASHLAR_TRY(check_amounts("the origin", count, type, place));
  return with_request("MPI_Rget", window, *target, copies_of(window, *target), request, [&](Gate* gate) {
    return target->copies->get({.window = window,
                                .target = *target,
                                .origin = {.data = origin, .count = count, .type = &type},
                                .place = place,
                                .done = gate});
  });
}

}  // namespace ashlar::rma

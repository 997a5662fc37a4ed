// MPI_Put, MPI_Get and their request-based forms.
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/apply.h"
#include "framework/rma/request.h"
#include "framework/rma/usual.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

// Apart from their callers, which need no frame without them.
[[gnu::noinline]] Status copy_usual(void* to, const void* from, std::size_t bytes) {
  detail::copy_dense(to, from, bytes);
  return {};
}

[[gnu::noinline]] Status put_any(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp,
                                 MPI_Count target_count, Datatype& target_type, Window& win) {
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

[[gnu::noinline]] Status get_any(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp,
                                 MPI_Count target_count, Datatype& target_type, Window& win) {
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

}  // namespace

Status put(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  MPI_Count bytes = 0;
  Target* const to = usual_target(of(win), rank);
  if (to == nullptr || !usual_bytes(count, type, target_count, target_type, &bytes)) [[unlikely]]
    return put_any(origin, count, type, rank, disp, target_count, target_type, win);
  std::byte* const at = usual_place(*to, disp, bytes);
  if (at == nullptr) [[unlikely]]
    return put_any(origin, count, type, rank, disp, target_count, target_type, win);
  if (bytes != sizeof(std::uint64_t)) return copy_usual(at, origin, static_cast<std::size_t>(bytes));
  std::memcpy(at, origin, sizeof(std::uint64_t));
  return {};
}

Status get(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  MPI_Count bytes = 0;
  Target* const to = usual_target(of(win), rank);
  if (to == nullptr || !usual_bytes(count, type, target_count, target_type, &bytes)) [[unlikely]]
    return get_any(origin, count, type, rank, disp, target_count, target_type, win);
  const std::byte* const at = usual_place(*to, disp, bytes);
  if (at == nullptr) [[unlikely]]
    return get_any(origin, count, type, rank, disp, target_count, target_type, win);
  if (bytes != sizeof(std::uint64_t)) return copy_usual(origin, at, static_cast<std::size_t>(bytes));
  std::memcpy(origin, at, sizeof(std::uint64_t));
  return {};
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

// MPI_Put, MPI_Get and their request-based forms.
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/apply.h"
#include "framework/rma/request.h"
#include "framework/rma/usual.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

/// The two directions: how a way goes there, and how a store or load does in mapped memory.
struct Puts {
  static constexpr auto through = &Way::put;
  static void directly(std::byte* memory, const DataView& from, const Place& place) { put(memory, from, place); }
  static constexpr char request_form[] = "MPI_Rput";
};
struct Gets {
  static constexpr auto through = &Way::get;
  static void directly(const std::byte* memory, const DataView& to, const Place& place) { get(memory, to, place); }
  static constexpr char request_form[] = "MPI_Rget";
};

/// The arguments of a call.
struct Call {
  DataView origin;
  int rank;
  MPI_Aint disp;
  Place place;
};

/// Finds the target. nullptr: nothing is to be done.
Status prepare(RmaWindow& window, Call& call, Target** target) {
  ASHLAR_TRY(aim(window, call.rank, call.disp, &call.place, target));
  return *target == nullptr ? Status() : check_amounts("the origin", call.origin.count, *call.origin.type, call.place);
}

Access access_of(RmaWindow& window, Target& target, const Call& call, Gate* gate) {
  return {.window = window, .target = target, .origin = call.origin, .place = call.place, .done = gate};
}

// Apart from their callers, which need no frame without them.
[[gnu::noinline]] Status copy_usual(void* to, const void* from, std::size_t bytes) {
  detail::copy_dense(to, from, bytes);
  return {};
}

template <class Direction>
[[gnu::noinline]] Status run(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp,
                             MPI_Count target_count, Datatype& target_type, Window& win) {
  RmaWindow& window = of(win);
  Call call{.origin = DataView::of(origin, count, type),
            .rank = rank,
            .disp = disp,
            .place = {.offset = 0, .count = target_count, .type = &target_type}};
  Target* target = nullptr;
  ASHLAR_TRY(prepare(window, call, &target));
  if (target == nullptr) return {};
  if (target->memory != nullptr) [[likely]] {
    Direction::directly(target->memory, call.origin, call.place);
    return {};
  }
  return (target->copies->*Direction::through)(access_of(window, *target, call, nullptr));
}

template <class Direction>
Status start(Window& win, Call call, Request** request) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_passive(window, call.rank));
  Target* target = nullptr;
  ASHLAR_TRY(prepare(window, call, &target));
  if (target == nullptr) return complete_request(window, request);
  return with_request(Direction::request_form, window, *target, copies_of(window, *target), request, [&](Gate* gate) {
    return (target->copies->*Direction::through)(access_of(window, *target, call, gate));
  });
}

}  // namespace

Status put(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  MPI_Count bytes = 0;
  Target* const to = usual_target(of(win), rank);
  if (to == nullptr || !usual_bytes(count, type, target_count, target_type, &bytes)) [[unlikely]]
    return run<Puts>(origin, count, type, rank, disp, target_count, target_type, win);
  std::byte* const at = usual_place(*to, disp, bytes);
  if (at == nullptr) [[unlikely]]
    return run<Puts>(origin, count, type, rank, disp, target_count, target_type, win);
  if (bytes != sizeof(std::uint64_t)) return copy_usual(at, origin, static_cast<std::size_t>(bytes));
  std::memcpy(at, origin, sizeof(std::uint64_t));
  return {};
}

Status get(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win) {
  MPI_Count bytes = 0;
  Target* const to = usual_target(of(win), rank);
  if (to == nullptr || !usual_bytes(count, type, target_count, target_type, &bytes)) [[unlikely]]
    return run<Gets>(origin, count, type, rank, disp, target_count, target_type, win);
  const std::byte* const at = usual_place(*to, disp, bytes);
  if (at == nullptr) [[unlikely]]
    return run<Gets>(origin, count, type, rank, disp, target_count, target_type, win);
  if (bytes != sizeof(std::uint64_t)) return copy_usual(origin, at, static_cast<std::size_t>(bytes));
  std::memcpy(origin, at, sizeof(std::uint64_t));
  return {};
}

Status rput(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request) {
  return start<Puts>(win,
                     {.origin = DataView::of(origin, count, type),
                      .rank = rank,
                      .disp = disp,
                      .place = {.offset = 0, .count = target_count, .type = &target_type}},
                     request);
}

Status rget(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request) {
  return start<Gets>(win,
                     {.origin = DataView::of(origin, count, type),
                      .rank = rank,
                      .disp = disp,
                      .place = {.offset = 0, .count = target_count, .type = &target_type}},
                     request);
}

}  // namespace ashlar::rma

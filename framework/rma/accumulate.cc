// MPI_Accumulate and its kin: everything that combines data with what lies in the target's memory.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/datatype/type_parts.h"
#include "framework/object/handle.h"
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/request.h"
#include "framework/rma/usual.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

/// The arguments of a call, as far as calls have them. `type` is null where the origin does not count.
struct Call {
  const void* origin;
  MPI_Count count;
  Datatype* type;
  DataView result;  // type nullptr: nothing is fetched
  int rank;
  MPI_Aint disp;
  Place place;
  const ReduceOp& op;
};

[[gnu::cold]] Status bad_op(const ReduceOp& op, const char* wanted) {
  return fail(MPI_ERR_OP, "rma.op", {{"argument", "op"}, {"value", op.name()}, {"wanted", wanted}});
}

[[gnu::cold]] Status mixed_types(const char* argument, const Datatype& type, const Datatype& element) {
  return fail(MPI_ERR_TYPE, "rma.element",
              {{"argument", argument}, {"type", type.described()}, {"wanted", element.described()}});
}

/// The predefined type of the first data in `type`: a pair counts as one.
Datatype& first_predefined(Datatype& type) {
  if (type.is_predefined()) return type;
  const Datatype* found = &type;
  datatype::each_part(type, [&](const Datatype& part, MPI_Count n) {
    if (found == &type && n != 0 && part.size() != 0) found = &first_predefined(const_cast<Datatype&>(part));
  });
  return *const_cast<Datatype*>(found);
}

bool made_of(const Datatype& type, const Datatype& element) {
  const MPI_Count each = element.signature().elements;
  return each != 0 && element.signature().repeated(type.signature().elements / each) == type.signature();
}

Status check_element(const char* argument, const Datatype& type, const Datatype& element) {
  if (&type == &element || type.size() == 0 || made_of(type, element)) [[likely]]
    return {};
  return mixed_types(argument, type, element);
}

/// The usual case: one predefined datatype at both ends.
inline bool is_plain(const Call& call) {
  const Datatype* const type = call.place.type;
  return type->is_predefined() && (call.type == nullptr || (call.type == type && call.count == call.place.count)) &&
         (call.result.type == nullptr || (call.result.type == type && call.result.count == call.place.count));
}

/// What the call's datatypes and its operation have to be.
Status check_types(const Call& call, Datatype** element) {
  if (is_plain(call)) [[likely]] {
    *element = call.place.type;
    return call.op.check(*call.place.type);
  }
  *element = &first_predefined(*call.place.type);
  ASHLAR_TRY(check_element("target_datatype", *call.place.type, **element));
  if (call.type != nullptr) {
    ASHLAR_TRY(check_element("origin_datatype", *call.type, **element));
    ASHLAR_TRY(check_amounts("the origin", call.count, *call.type, call.place));
  }
  if (call.result.type != nullptr) {
    ASHLAR_TRY(check_element("result_datatype", *call.result.type, **element));
    ASHLAR_TRY(check_amounts("the result", call.result.count, *call.result.type, call.place));
  }
  return call.op.check(**element);
}

/// Of no data the types do not matter, as long as no end has any.
Status check_empty(const Call& call) {
  if (call.type != nullptr) ASHLAR_TRY(check_amounts("the origin", call.count, *call.type, call.place));
  if (call.result.type == nullptr) return {};
  return check_amounts("the result", call.result.count, *call.result.type, call.place);
}

/// Finds the target. nullptr: nothing is to be done.
Status prepare(RmaWindow& window, Call& call, Target** target, Datatype** element) {
  if (call.op.code() == ReduceOp::Code::kUser) return bad_op(call.op, "one of the standard's");
  ASHLAR_TRY(aim(window, call.rank, call.disp, &call.place, target));
  if (*target == nullptr) return {};
  if (call.place.count == 0 || call.place.type->size() == 0) [[unlikely]] {
    *target = nullptr;
    return check_empty(call);
  }
  return check_types(call, element);
}

Update update_of(RmaWindow& window, Target& target, Datatype& element, const Call& call, Gate* gate) {
  return {.window = window,
          .target = target,
          .op = call.op,
          .element = element,
          .origin = call.type != nullptr ? DataView::of(call.origin, call.count, *call.type) : DataView{},
          .result = call.result,
          .place = call.place,
          .compare = nullptr,
          .done = gate};
}

Status run(Window& win, Call& call) {
  RmaWindow& window = of(win);
  Target* target = nullptr;
  Datatype* element = nullptr;
  ASHLAR_TRY(prepare(window, call, &target, &element));
  if (target == nullptr) return {};
  return target->updates->update(update_of(window, *target, *element, call, nullptr));
}

Status start(const char* name, Window& win, Call& call, Request** request) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_passive(window, call.rank));
  Target* target = nullptr;
  Datatype* element = nullptr;
  ASHLAR_TRY(prepare(window, call, &target, &element));
  if (target == nullptr) return complete_request(window, request);
  return with_request(name, window, *target, updates_of(window, *target), request, [&](Gate* gate) {
    return target->updates->update(update_of(window, *target, *element, call, gate));
  });
}

/// With MPI_NO_OP the origin does not count; otherwise this is what entry points check of buffers.
Status check_origin(const ReduceOp& op, MPI_Count count, Datatype** type) {
  if (op.code() == ReduceOp::Code::kNoOp) {
    *type = nullptr;
    return {};
  }
  if (*type == nullptr) return fail(MPI_ERR_TYPE, "argument.null_type", {{"argument", "origin_datatype"}});
  if (count < 0)
    return fail(MPI_ERR_COUNT, "argument.value",
                {{"argument", "origin_count"}, {"value", count}, {"wanted", "0 or more"}});
  return datatype::check_committed(**type);
}

[[gnu::noinline]] Status accumulate_any(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp,
                                        MPI_Count target_count, Datatype& target_type, ReduceOp& op, Window& win) {
  if (op.code() == ReduceOp::Code::kNoOp) return bad_op(op, "one that combines, or MPI_REPLACE");
  Call call{.origin = origin,
            .count = count,
            .type = &type,
            .result = {},
            .rank = rank,
            .disp = disp,
            .place = {.offset = 0, .count = target_count, .type = &target_type},
            .op = op};
  return run(win, call);
}

}  // namespace

Status accumulate(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
                  Datatype& target_type, ReduceOp& op, Window& win) {
  if (&type == &target_type && count == target_count && op.code() != ReduceOp::Code::kNoOp &&
      update_usual(of(win), origin, nullptr, count, type, rank, disp, op)) [[likely]]
    return {};
  return accumulate_any(origin, count, type, rank, disp, target_count, target_type, op, win);
}

Status raccumulate(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
                   Datatype& target_type, ReduceOp& op, Window& win, Request** request) {
  if (op.code() == ReduceOp::Code::kNoOp) return bad_op(op, "one that combines, or MPI_REPLACE");
  Call call{.origin = origin,
            .count = count,
            .type = &type,
            .result = {},
            .rank = rank,
            .disp = disp,
            .place = {.offset = 0, .count = target_count, .type = &target_type},
            .op = op};
  return start("MPI_Raccumulate", win, call, request);
}

Status get_accumulate(const void* origin, MPI_Count count, Datatype* type, void* result, MPI_Count result_count,
                      Datatype& result_type, int rank, MPI_Aint disp, MPI_Count target_count, Datatype& target_type,
                      ReduceOp& op, Window& win) {
  ASHLAR_TRY(check_origin(op, count, &type));
  const bool as_origin = type == nullptr || (type == &target_type && count == target_count);
  if (as_origin && &result_type == &target_type && result_count == target_count &&
      update_usual(of(win), origin, result, target_count, target_type, rank, disp, op))
    return {};
  Call call{.origin = origin,
            .count = count,
            .type = type,
            .result = {.data = result, .count = result_count, .type = &result_type},
            .rank = rank,
            .disp = disp,
            .place = {.offset = 0, .count = target_count, .type = &target_type},
            .op = op};
  return run(win, call);
}

Status rget_accumulate(const void* origin, MPI_Count count, Datatype* type, void* result, MPI_Count result_count,
                       Datatype& result_type, int rank, MPI_Aint disp, MPI_Count target_count, Datatype& target_type,
                       ReduceOp& op, Window& win, Request** request) {
  ASHLAR_TRY(check_origin(op, count, &type));
  Call call{.origin = origin,
            .count = count,
            .type = type,
            .result = {.data = result, .count = result_count, .type = &result_type},
            .rank = rank,
            .disp = disp,
            .place = {.offset = 0, .count = target_count, .type = &target_type},
            .op = op};
  return start("MPI_Rget_accumulate", win, call, request);
}

}  // namespace ashlar::rma

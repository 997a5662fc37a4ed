#include "framework/comm/context.h"

#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/comm/engine.h"
#include "framework/comm/group_exchange.h"
#include "framework/comm/inter_exchange.h"
#include "framework/object/comm.h"

namespace ashlar::comm {
namespace {

constexpr std::int64_t kSmallestRange = 8, kLargestRange = 512;  // as distances: ids are even

}  // namespace

std::int64_t next_range(const Comm& comm) {
  return std::clamp<std::int64_t>(2 * std::int64_t{comm.child_context_range}, kSmallestRange, kLargestRange);
}

bool take_agreed_id(Comm& comm, std::uint32_t* context) {
  if (comm.child_context_end - comm.child_context < ContextIds::kStep) return false;
  *context = comm.child_context;
  comm.child_context += ContextIds::kStep;
  return true;
}

Status take_id(Comm& comm, std::uint32_t* context) {
  if (take_agreed_id(comm, context)) return {};
  const std::int64_t range = next_range(comm);
  std::uint32_t begin = 0;
  ASHLAR_TRY(agree_with(
      Engine::current().ids, [&](std::int64_t* values, int n) { return max_over_all(comm, values, n); }, range,
      &begin));
  comm.child_context = begin;
  comm.child_context_range = static_cast<std::uint32_t>(range);
  comm.child_context_end = begin + comm.child_context_range;
  if (!take_agreed_id(comm, context))
    return fail(MPI_ERR_INTERN, "internal.state", {{"what", "a range of context ids is too small"}});
  return {};
}

Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context) {
  return agree_with(
      Engine::current().ids, [&](std::int64_t* values, int n) { return group_max(comm, group, tag, values, n); },
      ContextIds::kStep, context);
}

}  // namespace ashlar::comm

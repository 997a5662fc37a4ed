#include "framework/coll/choose.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/base/shared_count.h"
#include "framework/coll/network.h"
#include "framework/coll/rounds.h"

namespace ashlar::coll {
namespace {

/// The conditions of a rule that differ from call to call, beside its sizes.
[[gnu::noinline]] bool holds(const Rule& rule, const Call& call, const Network* network) {
  if (rule.goes_by_bandwidth() && (network == nullptr || network->bandwidth == 0 ||
                                   !rule.bandwidth.has(static_cast<MPI_Count>(network->bandwidth))))
    return false;
  if (rule.commute == Rule::Commute::kAny) return true;
  const bool commutes = call.op == nullptr || call.op->commutative();
  return (rule.commute == Rule::Commute::kYes) == commutes;
}

}  // namespace

bool serves(const Plan& plan, const Choice& choice, const Call& call, const Without& without) {
  const Rule* const rule = choice.rule;
  if (rule != nullptr) {
    if (!rule->bytes.has(call.bytes)) return false;
    if (rule->conditional && !holds(*rule, call, without.network)) return false;
  }
  const Algorithm& algorithm = *choice.entry->algorithm;
  if ((without.components >> choice.entry->component & 1u) != 0) return false;
  if (without.part && algorithm.is(kInCallOrder)) return false;
  const char* why = nullptr;
  if ((algorithm.traits & without.traits) != 0) [[unlikely]]
    why = (algorithm.traits & without.traits & kReaches) != 0 ? "the ranks may not copy from each other's memory"
                                                              : "a rank has more edges than its place has room for";
  else
    why = why_not(algorithm, plan.shape, call);
  if (why == nullptr) [[likely]]
    return true;
  plan.engine->record_unfit(choice, plan.shape, call, why);
  return false;
}

const char* why_not(const Algorithm& algorithm, const Shape& shape, const Call& call) {
  if (algorithm.excluded != nullptr) return algorithm.excluded(shape, call);
  return algorithm.row != nullptr ? row_excluded(*algorithm.row, shape, call) : nullptr;
}

void take(const Plan& plan, const Choice& choice, const Call& call) {
  CatalogueEntry& entry = *choice.entry;
  std::uint64_t& of_size = entry.calls_of_size[size_bin(call.bytes)];
  if (LaneLock::threads_on()) [[unlikely]] {
    count_shared(entry.calls);
    count_shared(of_size);
  } else {
    count_alone(entry.calls);
    count_alone(of_size);
  }
  if (!is_set(entry.recorded)) [[unlikely]]
    plan.engine->record(choice, plan.shape, call);
}

Status choose(const Plan& plan, const Call& call, const Without& without, Choice* out) {
  for (const Choice& choice : plan.choices[static_cast<std::size_t>(call.what)]) {
    if (!serves(plan, choice, call, without)) continue;
    take(plan, choice, call);
    *out = choice;
    return {};
  }
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "coll.no_algorithm",
              {{"collective", name_of(call.what)}, {"bytes", call.bytes}, {"ranks", plan.shape.ranks}});
}

}  // namespace ashlar::coll

#include "framework/io/plan.h"

#include <algorithm>
#include <set>

#include "framework/io/choice.h"
#include "framework/io/choice_record.h"
#include "framework/io/file.h"
#include "framework/io/together.h"

namespace ashlar::io {
namespace {

constexpr std::uint64_t kBlock = 4096;  // windows begin at multiples of it: no two share a page
constexpr std::uint64_t kLeastWindow = 64 * 1024;

/// What the facts of all processes come to.
struct Sums {
  std::uint64_t first = UINT64_MAX, end = 0;
  std::uint32_t flags = 0;
  bool mapped = true;
  std::uint32_t nodes = 1;
  Demand demand;
};

double number(std::uint64_t value) { return static_cast<double>(value); }

Sums sum_up(const Together& access) {
  Sums all;
  Demand& demand = all.demand;
  std::set<std::uint32_t> nodes;
  for (Rank rank = 0; rank < access.file().comm->size; ++rank) {
    const Facts& one = access.facts_of(rank);
    nodes.insert(one.node);
    all.flags |= one.flags;
    if (one.bytes == 0) continue;
    all.mapped = all.mapped && (one.flags & Facts::kMapped) != 0;
    const double hull = number(one.end - one.first);
    all.first = std::min(all.first, one.first);
    all.end = std::max(all.end, one.end);
    demand.bytes += number(one.bytes);
    demand.pieces += number(one.pieces);
    demand.hulls += hull;
    demand.most_bytes = std::max(demand.most_bytes, number(one.bytes));
    demand.most_pieces = std::max(demand.most_pieces, number(one.pieces));
    demand.most_hull = std::max(demand.most_hull, hull);
  }
  demand.writes = (all.flags & Facts::kWrites) != 0;
  if (all.first < all.end) demand.hull = number(all.end - all.first);
  all.nodes = static_cast<std::uint32_t>(nodes.size());
  return all;
}

/// Why data is not combined; nullptr: it may be.
const char* why_not(const Together& access, const Sums& all, const Facts& hints) {
  const OpenFile& file = access.file();
  if ((all.flags & Facts::kAtomic) != 0 && access.far != nullptr)
    return "in atomic mode between hosts each process holds a lock of the file system for its own data";
  if ((all.flags & Facts::kAtomic) != 0 && (hints.flags & Facts::kBlocking) == 0)
    return "in atomic mode a nonblocking access holds no lock while processes do something else";
  if ((all.flags & Facts::kIncoherent) != 0) return "a process does not see at once what another one writes for it";
  if ((all.flags & Facts::kUnordered) != 0) return "the pieces of a view do not ascend";
  if ((all.flags & Facts::kConverted) != 0) return "the data representation converts";
  if (file.windows_refused) return "a process cannot map the memory of another one";
  if (hints.together == Switch::kOff) return "a hint or a parameter says so";
  return nullptr;
}

}  // namespace

void make_plan(Together& access) {
  OpenFile& file = access.file();
  const bool far = access.far != nullptr;
  const int ranks = file.comm->size;
  const Facts& hints = access.facts_of(0);
  const Sums all = sum_up(access);
  Plan& plan = access.plan;
  plan.way = Way::kList;
  if (all.demand.bytes == 0) return;
  const auto most = static_cast<std::uint32_t>(ranks);
  plan.first = all.first / kBlock * kBlock;
  plan.end = all.end;
  plan.aggregators = hints.aggregators == 0 ? (far ? all.nodes : most) : std::min(hints.aggregators, most);
  const std::uint64_t whole = plan.end - plan.first;
  const std::uint64_t share = (whole / plan.aggregators / kBlock + 1) * kBlock;
  const std::uint64_t largest = far ? std::min(hints.window, kMostWindow / 2) : hints.window;
  plan.window = std::clamp(share, std::min(kLeastWindow, largest), largest) / kBlock * kBlock;
  const std::uint64_t windows = (whole - 1) / plan.window + 1;
  plan.aggregators = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.aggregators, windows));
  plan.rounds = (windows - 1) / plan.aggregators + 1;
  const Windows sizes = {.sieve = number(hints.sieve_window),
                         .together = number(plan.window),
                         .aggregators = number(plan.aggregators),
                         .rounds = number(plan.rounds),
                         .far = far};
  Estimates costs = estimate_together(all.demand, sizes, hints.rates);
  access.cost_together = costs.two_phase;
  if (!all.mapped) costs.mapped = cost::kForbidden;
  const char* const no = why_not(access, all, hints);
  const bool writes = all.demand.writes;
  const bool sieves = hints.sieve != Switch::kOff && (!writes || (!far && (all.flags & Facts::kUnreadable) == 0));
  const bool forced = hints.together == Switch::kOn || hints.way == Way::kTwoPhase;
  const bool may = hints.way == Way::kAuto && hints.together == Switch::kAuto;
  plan.way = cheapest(costs, {.sieve = sieves, .two_phase = no == nullptr && may, .mapped = all.mapped && may});
  if (forced && no == nullptr) plan.way = Way::kTwoPhase;
  if (plan.way == Way::kTwoPhase) file.counts.combined.add();
  record_choice(file, access.call, all.demand, costs, hints.rates, plan.way, no);
}

}  // namespace ashlar::io

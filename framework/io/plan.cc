#include "framework/io/plan.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "framework/io/cost.h"
#include "framework/io/engine.h"
#include "framework/io/together.h"
#include "framework/plugin/records.h"
#include "framework/progress/lane.h"

namespace ashlar::io {
namespace {

constexpr std::uint64_t kBlock = 4096;  // windows begin at multiples of it: no two share a page
constexpr std::uint64_t kLeastWindow = 64 * 1024;
constexpr std::uint64_t kFar = std::uint64_t{1} << 44;  // longer ranges cost as much as this one: the sums stay numbers

/// What the facts of all processes come to.
struct Sums {
  std::uint64_t first = UINT64_MAX, end = 0;
  std::uint64_t bytes = 0, pieces = 0, hulls = 0;
  Facts most;  // the largest of each
  std::uint32_t flags = 0;

  std::uint64_t hull() const { return first < end ? end - first : 0; }
  std::uint64_t gaps() const { return hull() > bytes ? hull() - bytes : 0; }
};

Sums sum_up(SharedBlock& block, int ranks) {
  Sums all;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Facts& one = block.slot(rank).facts;
    all.flags |= one.flags;
    if (one.bytes == 0) continue;
    all.first = std::min(all.first, one.first);
    all.end = std::max(all.end, one.end);
    all.bytes += one.bytes;
    all.pieces += one.pieces;
    all.hulls += std::min(one.end - one.first, kFar);
    all.most.bytes = std::max(all.most.bytes, one.bytes);
    all.most.pieces = std::max(all.most.pieces, one.pieces);
    all.most.end = std::max(all.most.end, std::min(one.end - one.first, kFar));
  }
  return all;
}

struct Estimates {
  std::uint64_t list = 0, sieve = 0, two_phase = 0;  // picoseconds
};

// The system writes to one file one process at a time; reads go side by side.
Estimates estimate(const Sums& all, bool writes, const Plan& plan, std::uint64_t sieve_window) {
  Estimates out;
  const std::uint64_t hull = std::min(all.hull(), kFar);
  const std::uint64_t copies = all.most.pieces * cost::kPiece + all.most.bytes * cost::kCopy;
  const std::uint64_t moves = hull * cost::kByte + (hull / plan.window + 1) * cost::kCall;
  if (writes) {
    out.list = cost::list(all.pieces, all.bytes);
    out.sieve = cost::sieve(true, all.hulls, sieve_window, all.most.pieces, all.most.bytes);
    out.two_phase = copies + (all.gaps() > 0 ? 2 : 1) * moves;
  } else {
    out.list = cost::list(all.most.pieces, all.most.bytes);
    out.sieve = cost::sieve(false, all.most.end, sieve_window, all.most.pieces, all.most.bytes);
    out.two_phase = copies + moves / plan.aggregators;
  }
  out.two_phase += (plan.rounds + 2) * cost::kMeeting;
  return out;
}

/// Why data is not combined; nullptr: it may be.
const char* why_not(const OpenFile& file, const Sums& all, const Facts& hints) {
  if ((all.flags & Facts::kAtomic) != 0 && (hints.flags & Facts::kBlocking) == 0)
    return "in atomic mode a nonblocking access holds no lock while processes do something else";
  if ((all.flags & Facts::kIncoherent) != 0) return "a process does not see at once what another one writes for it";
  if ((all.flags & Facts::kUnordered) != 0) return "a view has pieces in common";
  if ((all.flags & Facts::kConverted) != 0) return "the data representation converts";
  if (file.windows_refused) return "a process cannot map the memory of another one";
  if (hints.together == Switch::kOff) return "a hint or a parameter says so";
  return nullptr;
}

std::string microseconds(std::uint64_t ps) { return std::to_string(ps / 1'000'000) + " us"; }

void tell(OpenFile& file, const char* call, const Sums& all, const Estimates& costs, const char* not_together,
          Way way) ASHLAR_NO_THREAD_SAFETY {
  Way& told = file.told[(all.flags & Facts::kWrites) != 0 ? 1 : 0];
  plugin::Records* const records = file.comm->lane->records;
  if (told == way || records == nullptr) return;
  told = way;
  std::string because = std::to_string(all.bytes) + " bytes in about " + std::to_string(all.pieces) + " pieces, " +
                        std::to_string(all.hull() == 0 ? 0 : 100 * (all.gaps() / 64) / (all.hull() / 64 + 1)) +
                        " % gaps; estimates: list " + microseconds(costs.list) + ", sieve " +
                        microseconds(costs.sieve) + ", two_phase " + microseconds(costs.two_phase);
  records->add({.topic = "io",
                .subject = std::string(call) + " on '" + file.path + "'",
                .chosen = kWays[static_cast<int>(way)],
                .because = because,
                .lost = not_together != nullptr ? std::string("two_phase: ") + not_together : std::string(),
                .setting = "io.way, io.collective_buffering (info key collective_buffering)"});
}

}  // namespace

void make_plan(OpenFile& file, const char* call, Plan* out) {
  SharedBlock& block = *file.shared;
  const int ranks = file.comm->size;
  const Facts& hints = block.slot(0).facts;
  const Sums all = sum_up(block, ranks);
  const bool writes = (all.flags & Facts::kWrites) != 0;
  Plan& plan = *out;
  plan.way = Way::kList;
  if (all.bytes == 0) return;
  const auto most = static_cast<std::uint32_t>(ranks);
  plan.first = all.first / kBlock * kBlock;
  plan.end = all.end;
  plan.aggregators = hints.aggregators == 0 ? most : std::min(hints.aggregators, most);
  const std::uint64_t whole = plan.end - plan.first;
  const std::uint64_t share = (whole / plan.aggregators / kBlock + 1) * kBlock;
  plan.window = std::clamp(share, std::min(kLeastWindow, hints.window), hints.window) / kBlock * kBlock;
  const std::uint64_t windows = (whole - 1) / plan.window + 1;
  plan.aggregators = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.aggregators, windows));
  plan.rounds = (windows - 1) / plan.aggregators + 1;
  const Estimates costs = estimate(all, writes, plan, file.hints.sieve_read_bytes);
  const char* const no = why_not(file, all, hints);
  const bool sieves = hints.sieve != Switch::kOff && (!writes || (all.flags & Facts::kUnreadable) == 0);
  const std::uint64_t alone = sieves ? std::min(costs.list, costs.sieve) : costs.list;
  plan.way = sieves && costs.sieve < costs.list ? Way::kSieve : Way::kList;
  if (no == nullptr) {
    if (hints.together == Switch::kOn || hints.way == Way::kTwoPhase) plan.way = Way::kTwoPhase;
    if (hints.way == Way::kAuto && hints.together == Switch::kAuto && costs.two_phase < alone)
      plan.way = Way::kTwoPhase;
  }
  if (plan.way == Way::kTwoPhase) file.counts.combined.add();
  tell(file, call, all, costs, no, plan.way);
}

}  // namespace ashlar::io

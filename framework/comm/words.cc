#include "framework/comm/words.h"

#include <mpi.h>

#include "framework/comm/engine.h"
#include "framework/comm/outside.h"
#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/object/group_builder.h"
#include "framework/object/handle.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/reason.h"
#include "framework/progress/gate.h"
#include "framework/progress/waiting.h"

namespace ashlar::comm {
namespace {

// Collectives number their operations from 0 upwards in the low bits; this bit keeps the two apart.
constexpr int kOwnTag = 0x40000000;

DataView view_of(const std::int64_t* values, int count) { return DataView::of(values, count, *resolve(MPI_INT64_T)); }

}  // namespace

Words::Words(Comm& comm, int tag) : comm_(comm), tag_(kOwnTag | (tag & (kOwnTag - 1))) {}

Status Words::send(Rank to, const std::int64_t* values, int count) { return trade(to, values, count, nullptr, 0); }

Status Words::receive(Rank from, std::int64_t* values, int count) { return trade(from, nullptr, 0, values, count); }

Status Words::trade(Rank with, const std::int64_t* mine, int my_count, std::int64_t* theirs, int their_count) {
  const LaneGuard guard(comm_.lane->lock);
  Gate gate;
  if (their_count > 0) ASHLAR_TRY(p2p::post_recv(comm_, view_of(theirs, their_count), with, tag_, gate));
  Status sent;
  if (my_count > 0) sent = p2p::post_send(comm_, view_of(mine, my_count), with, tag_, gate);
  if (!sent.ok()) p2p::abandon(*comm_.lane, gate);
  progress::wait(
      *comm_.lane, [&] { return gate.open(); }, p2p::because_of(gate));
  ASHLAR_TRY(sent);
  return gate.status();
}

namespace {

// What is in front: the number of members, the form, the job (of the first form).
enum Form : std::int64_t { kOneJob = 0, kSeveralJobs = 1 };
constexpr std::size_t kSize = 0, kForm = 1, kJob = 2, kRuns = 4, kRest = 5;

Identity identity_of(PeerId peer) {
  Outside* const outside = Engine::current().outside;
  return outside ? outside->identity_of(peer) : Identity{{0, 0}, peer};
}

std::int64_t as_word(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

}  // namespace

// Of this job, ranks are as good as names: the job, the number of runs, and three words for each; without runs a word
// for each member. Of several jobs, job and rank of each.
std::vector<std::int64_t> words_of(const Group& group) {
  if (spans_jobs(group)) {
    std::vector<std::int64_t> words{group.size(), kSeveralJobs};
    for (Rank r = 0; r < group.size(); ++r) {
      const Identity who = identity_of(group[r]);
      words.insert(words.end(), {as_word(who.job[0]), as_word(who.job[1]), who.rank});
    }
    return words;
  }
  const Identity own = identity_of(Group::self_peer);
  std::vector<std::int64_t> words{group.size(), kOneJob, as_word(own.job[0]), as_word(own.job[1]),
                                  static_cast<std::int64_t>(group.runs().size())};
  words.reserve(kRest + 3 * group.runs().size() + group.table().size());
  for (const Run& run : group.runs()) words.insert(words.end(), {run.first, run.stride, run.count});
  words.insert(words.end(), group.table().begin(), group.table().end());
  return words;
}

bool are_of_one_job(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  return one[kForm] == kOneJob && other[kForm] == kOneJob && one[kJob] == other[kJob] &&
         one[kJob + 1] == other[kJob + 1];
}

std::vector<Identity> identities_in(const std::vector<std::int64_t>& words) {
  std::vector<Identity> all;
  const auto add = [&all](std::int64_t job0, std::int64_t job1, std::int64_t rank) {
    all.push_back(
        {{static_cast<std::uint64_t>(job0), static_cast<std::uint64_t>(job1)}, static_cast<std::uint32_t>(rank)});
  };
  const auto size = static_cast<std::size_t>(words[kSize]);
  if (words[kForm] == kSeveralJobs) {
    for (std::size_t at = 2; at < 2 + 3 * size; at += 3) add(words[at], words[at + 1], words[at + 2]);
    return all;
  }
  const auto runs = static_cast<std::size_t>(words[kRuns]);
  for (std::size_t i = 0; runs == 0 && i < size; ++i) add(words[kJob], words[kJob + 1], words[kRest + i]);
  for (std::size_t at = kRest; at < kRest + 3 * runs; at += 3)
    for (std::int64_t i = 0; i < words[at + 2]; ++i) add(words[kJob], words[kJob + 1], words[at] + i * words[at + 1]);
  return all;
}

Group* group_from(const std::vector<std::int64_t>& words) {
  GroupBuilder members;
  const Identity own = identity_of(Group::self_peer);
  if (words[kForm] == kOneJob && static_cast<std::uint64_t>(words[kJob]) == own.job[0] &&
      static_cast<std::uint64_t>(words[kJob + 1]) == own.job[1]) {
    const std::int64_t size = words[kSize], runs = words[kRuns];
    const std::int64_t* at = words.data() + kRest;
    for (std::int64_t i = 0; i < runs; ++i, at += 3) members.append(at[0], at[1], static_cast<int>(at[2]));
    for (std::int64_t i = 0; runs == 0 && i < size; ++i) members.append(at[i]);
    return members.finish();
  }
  for (const Identity& who : identities_in(words)) members.append(Engine::current().outside->number_of(who));
  return members.finish();
}

}  // namespace ashlar::comm

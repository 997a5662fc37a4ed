#include "framework/comm/words.h"

#include <mpi.h>

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

// The number of members, the number of runs, and three words for each; without runs a word for each member.
std::vector<std::int64_t> words_of(const Group& group) {
  std::vector<std::int64_t> words{group.size(), static_cast<std::int64_t>(group.runs().size())};
  words.reserve(2 + 3 * group.runs().size() + group.table().size());
  for (const Run& run : group.runs()) words.insert(words.end(), {run.first, run.stride, run.count});
  words.insert(words.end(), group.table().begin(), group.table().end());
  return words;
}

Group* group_from(const std::int64_t* words) {
  GroupBuilder members;
  const std::int64_t size = words[0], runs = words[1];
  words += 2;
  for (std::int64_t i = 0; i < runs; ++i, words += 3) members.append(words[0], words[1], static_cast<int>(words[2]));
  for (std::int64_t i = 0; runs == 0 && i < size; ++i) members.append(words[i]);
  return members.finish();
}

}  // namespace ashlar::comm

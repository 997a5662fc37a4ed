#include "framework/comm/words.h"

#include <mpi.h>

#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/p2p/internal.h"
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

std::vector<std::int64_t> words_of(const Group& group) {
  const auto size = static_cast<std::size_t>(group.size());
  if (group.sparse())
    return {group.size(), 1, size > 0 ? group[0] : 0, size > 1 ? std::int64_t{group[1]} - group[0] : 1};
  std::vector<std::int64_t> words;
  words.reserve(size + 2);
  words.push_back(group.size());
  words.push_back(0);
  for (Rank r = 0; r < group.size(); ++r) words.push_back(group[r]);
  return words;
}

Group* group_from(const std::int64_t* words) {
  const auto size = static_cast<int>(words[0]);
  if (words[1] != 0) return Group::strided(static_cast<PeerId>(words[2]), words[3], size);
  return Group::of(std::vector<PeerId>(words + 2, words + 2 + size));
}

}  // namespace ashlar::comm

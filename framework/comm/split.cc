#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/comm/split.h"
#include "framework/object/comm.h"

namespace ashlar::comm {
namespace {

int key_of(std::int64_t word) { return static_cast<int>(static_cast<std::uint32_t>(word)); }

/// The members of `group` that chose `color`, ordered by key and then by rank in `group`. nullptr: no memory.
Group* members_of(const Group& group, const std::vector<std::int64_t>& choices, int color) {
  std::vector<std::pair<int, Rank>> members;
  for (std::size_t r = 0; r < choices.size(); ++r)
    if (choice_color(choices[r]) == color) members.emplace_back(key_of(choices[r]), static_cast<Rank>(r));
  std::sort(members.begin(), members.end());
  std::vector<PeerId> peers;
  peers.reserve(members.size());
  for (const auto& [key, rank] : members) peers.push_back(group[rank]);
  Group* const made = Group::of(peers);
  if (made) made->origin = group.origin;
  return made;
}

}  // namespace

Status split(Comm& comm, int color, int key, Comm** result) {
  *result = nullptr;
  if (color < 0 && color != MPI_UNDEFINED)
    return Status::fail(MPI_ERR_ARG, "argument color is %d; it must be 0 or more, or MPI_UNDEFINED (%d)", color,
                        MPI_UNDEFINED);
  const std::int64_t mine = choice_word(color, key);
  std::vector<std::int64_t> ours, theirs;
  ASHLAR_TRY(gather_words(comm.inter ? *comm.local_comm : comm, &mine, 1, &ours));
  if (comm.inter) ASHLAR_TRY(span_of(comm).trade(ours, &theirs));
  std::uint32_t context = 0;
  ASHLAR_TRY(take_ids(comm, ids_for(comm.inter), &context));  // disjoint communicators may share them
  if (color == MPI_UNDEFINED) return {};

  const Ref<Group> local = Ref<Group>::adopt(members_of(*comm.local_group, ours, color));
  if (!local) return Status::fail(MPI_ERR_NO_MEM, "no memory for the group of a communicator");
  if (!comm.inter) return make(local, context, *comm.errhandler, nullptr, result);
  const Ref<Group> remote = Ref<Group>::adopt(members_of(*comm.remote_group, theirs, color));
  if (!remote) return Status::fail(MPI_ERR_NO_MEM, "no memory for the group of a communicator");
  if (remote->size() == 0) return {};
  return make_inter(local, remote, context, *comm.errhandler, nullptr, result);
}

}  // namespace ashlar::comm

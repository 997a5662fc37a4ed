#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/object/comm.h"

namespace ashlar::comm {
namespace {

// What every rank says of itself in a split: colour and key, in one word. Colours are at least 0, or MPI_UNDEFINED.
std::int64_t word_of(int color, int key) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(color)) << 32 |
                                   static_cast<std::uint32_t>(key));
}
int color_of(std::int64_t word) { return static_cast<int>(word >> 32); }
int key_of(std::int64_t word) { return static_cast<int>(static_cast<std::uint32_t>(word)); }

/// The members of `group` that chose `color`, ordered by key and then by rank in `group`. nullptr: no memory.
Group* members_of(const Group& group, const std::vector<std::int64_t>& choices, int color) {
  std::vector<std::pair<int, Rank>> members;
  for (std::size_t r = 0; r < choices.size(); ++r)
    if (color_of(choices[r]) == color) members.emplace_back(key_of(choices[r]), static_cast<Rank>(r));
  std::sort(members.begin(), members.end());
  std::vector<PeerId> peers;
  peers.reserve(members.size());
  for (const auto& [key, rank] : members) peers.push_back(group[rank]);
  return Group::of(std::move(peers));
}

}  // namespace

Status split(Comm& comm, int color, int key, Comm** result) {
  *result = nullptr;
  if (color < 0 && color != MPI_UNDEFINED)
    return Status::fail(MPI_ERR_ARG, "argument color is %d; it must be 0 or more, or MPI_UNDEFINED (%d)", color,
                        MPI_UNDEFINED);
  const std::int64_t mine = word_of(color, key);
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

Status split_type(Comm& comm, int type, int key, Info* info, Comm** result) {
  (void)info;  // hints of MPI_COMM_TYPE_SHARED name finer levels (mpi_hw_resource_type); the node is their common bound
  if (type == MPI_UNDEFINED) return split(comm, MPI_UNDEFINED, key, result);
  if (type == MPI_COMM_TYPE_SHARED)
    return split(comm, static_cast<int>(surroundings.node_of(Group::self_peer)), key, result);
  if (type == MPI_COMM_TYPE_HW_GUIDED || type == MPI_COMM_TYPE_HW_UNGUIDED || type == MPI_COMM_TYPE_RESOURCE_GUIDED)
    return Status::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                        "argument split_type is %d: splits by hardware resource are not available yet, only "
                        "MPI_COMM_TYPE_SHARED (%d)",
                        type, MPI_COMM_TYPE_SHARED);
  return Status::fail(MPI_ERR_ARG, "argument split_type is %d, which is none of the MPI_COMM_TYPE_ constants", type);
}

}  // namespace ashlar::comm

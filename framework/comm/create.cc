// Constructors of intracommunicators: each finds the new group, then agrees on a context id.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "framework/coll/api.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/make.h"
#include "framework/datatype/datatype.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar::comm {
namespace {

Status intra_only(const Comm& comm, const char* what) {
  if (!comm.inter) return {};
  return Status::fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s of intercommunicator '%s' is not available yet", what,
                      comm.name.c_str());
}

Status copy(Comm& comm, Comm** result) {
  ASHLAR_TRY(intra_only(comm, "duplication"));
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(comm, &context));
  Comm* made = nullptr;
  ASHLAR_TRY(make(comm.local_group, context, *comm.errhandler, &comm, &made));
  if (const Status copied = attribute::copy_all(comm, *made); !copied.ok()) {
    release(made);
    return copied;
  }
  *result = made;
  return {};
}

/// What every rank says of itself in a split.
struct Choice {
  std::int64_t color, key;
};

}  // namespace

Status dup(Comm& comm, Comm** result) { return copy(comm, result); }

Status dup_with_info(Comm& comm, Info*, Comm** result) {
  // Hints are advice; none of the standard's assertions changes what this library does for a communicator so far.
  return copy(comm, result);
}

Status split(Comm& comm, int color, int key, Comm** result) {
  if (color < 0 && color != MPI_UNDEFINED)
    return Status::fail(MPI_ERR_ARG, "argument color is %d; it must be 0 or more, or MPI_UNDEFINED (%d)", color, MPI_UNDEFINED);
  ASHLAR_TRY(intra_only(comm, "a split"));
  *result = nullptr;
  const auto size = static_cast<std::size_t>(comm.size);
  std::vector<Choice> choices(size);
  choices[static_cast<std::size_t>(comm.rank)] = {color, key};
  Datatype& word = *resolve(MPI_INT64_T);
  ASHLAR_TRY(coll::allgather(MPI_IN_PLACE, 0, word, choices.data(), 2, word, comm));
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(comm, &context));  // disjoint communicators may share it
  if (color == MPI_UNDEFINED) return {};

  std::vector<std::pair<std::int64_t, Rank>> members;
  for (std::size_t r = 0; r < size; ++r)
    if (choices[r].color == color) members.emplace_back(choices[r].key, static_cast<Rank>(r));
  std::sort(members.begin(), members.end());  // equal keys: by rank in the old communicator
  std::vector<PeerId> peers;
  peers.reserve(members.size());
  for (const auto& [member_key, rank] : members) peers.push_back((*comm.local_group)[rank]);
  Group* group = Group::of(std::move(peers));
  if (!group) return Status::fail(MPI_ERR_NO_MEM, "no memory for a group of %zu ranks", members.size());
  return make(Ref<Group>::adopt(group), context, *comm.errhandler, nullptr, result);
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

Status create(Comm& comm, Group& group, Comm** result) {
  ASHLAR_TRY(intra_only(comm, "creation of a communicator from a group"));
  *result = nullptr;
  for (Rank r = 0; r < group.size(); ++r)
    if (comm.local_group->rank_of(group[r]) < 0)
      return Status::fail(MPI_ERR_GROUP, "rank %d of argument group is not a member of communicator '%s'", r,
                          comm.name.c_str());
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(comm, &context));
  if (group.own_rank() < 0) return {};
  return make(Ref<Group>::share(group), context, *comm.errhandler, nullptr, result);
}

Status create_group(Comm& comm, Group& group, int tag, Comm** result) {
  ASHLAR_TRY(intra_only(comm, "creation of a communicator from a group"));
  *result = nullptr;
  for (Rank r = 0; r < group.size(); ++r)
    if (comm.local_group->rank_of(group[r]) < 0)
      return Status::fail(MPI_ERR_GROUP, "rank %d of argument group is not a member of communicator '%s'", r,
                          comm.name.c_str());
  if (group.own_rank() < 0) return {};
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(comm, group, tag, &context));
  return make(Ref<Group>::share(group), context, *comm.errhandler, nullptr, result);
}

}  // namespace ashlar::comm

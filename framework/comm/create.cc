// Communicators like an existing one, or of a given part of it: each finds the new groups, then takes context ids.
#include <mpi.h>

#include <vector>

#include "framework/base/failure.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/duplicate.h"
#include "framework/comm/hints.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/comm/words.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/group_algebra.h"
#include "framework/object/topology.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

Status check_members(const Comm& comm, const Group& group) {
  if (&group == comm.local_group.get()) return {};
  const Rank stranger = group::first_member(group, *comm.local_group, false);
  if (stranger < 0) return {};
  return fail(MPI_ERR_GROUP, "comm.not_member",
              {{"argument", "group"},
               {"value", stranger},
               {"whole", comm.inter ? "the local group of intercommunicator" : "communicator"},
               {"communicator", comm.name}});
}

Status create_inter(Comm& inter, Group& group, Comm** result) {
  std::vector<std::int64_t> theirs;
  ASHLAR_TRY(span_of(inter).trade(words_of(group), &theirs));
  std::uint32_t context = 0;
  ASHLAR_TRY(take_id(inter, &context));
  const Ref<Group> remote = Ref<Group>::adopt(group_from(theirs));
  if (!remote) return fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "a group"}, {"ranks", theirs[0]}});
  if (remote->size() == 0 || group.own_rank() < 0) return {};
  return make_inter(Ref<Group>::share(group), remote, context, *inter.errhandler, nullptr, result);
}

}  // namespace

Status duplicate(Comm& comm, std::uint32_t context, Comm** result) {
  Comm* made = nullptr;
  if (comm.inter)
    ASHLAR_TRY(make_inter(comm.local_group, comm.remote_group, context, *comm.errhandler, &comm, &made));
  else
    ASHLAR_TRY(make(comm.local_group, context, *comm.errhandler, &comm, &made));
  made->topology = comm.topology;
  if (const Status copied = attribute::copy_all(comm, *made); !copied.ok()) {
    release(made);
    return copied;
  }
  *result = made;
  return {};
}

Status dup(Comm& comm, Comm** result) {
  const progress::UserCall call("MPI_Comm_dup", &comm);
  std::uint32_t context = 0;
  ASHLAR_TRY(take_id(comm, &context));
  return duplicate(comm, context, result);
}

Status dup_with_info(Comm& comm, Info* info, Comm** result) {
  const progress::UserCall call("MPI_Comm_dup_with_info", &comm);
  return with_info(dup(comm, result), info, result);
}

Status create(Comm& comm, Group& group, Comm** result) {
  const progress::UserCall call("MPI_Comm_create", &comm);
  *result = nullptr;
  ASHLAR_TRY(check_members(comm, group));
  if (comm.inter) return create_inter(comm, group, result);
  std::uint32_t context = 0;
  ASHLAR_TRY(take_id(comm, &context));
  if (group.own_rank() < 0) return {};
  return make(Ref<Group>::share(group), context, *comm.errhandler, nullptr, result);
}

Status create_group(Comm& comm, Group& group, int tag, Comm** result) {
  const progress::UserCall call("MPI_Comm_create_group", &comm, tag);
  *result = nullptr;
  if (comm.inter) return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "comm"}, {"value", comm.name}});
  ASHLAR_TRY(check_members(comm, group));
  if (group.own_rank() < 0) return {};
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(comm, group, tag, &context));
  return make(Ref<Group>::share(group), context, *comm.errhandler, nullptr, result);
}

}  // namespace ashlar::comm

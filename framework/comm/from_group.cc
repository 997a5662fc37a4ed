// Communicators of groups that have none yet: they meet on the communicator of the whole job that the library keeps.
#include <mpi.h>

#include <cstdint>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/engine.h"
#include "framework/comm/hints.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/object/comm.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

enum Purpose : unsigned { kWhole, kLocalHalf, kBridge };

/// A tag that groups with different string tags, or different members, are unlikely to share.
int tag_of(const char* stringtag, const Group* group, Purpose purpose) {
  Hash hash;
  hash.add(std::string_view(stringtag));
  hash.add(std::uint64_t{purpose});
  if (group) hash.add(static_cast<std::uint64_t>(group->size()));
  if (group && group->size() > 0) hash.add(std::uint64_t{(*group)[0]} << 32 | (*group)[group->size() - 1]);
  return static_cast<int>((hash.value() ^ hash.value() >> 31) & 0x3fffffff);
}

Status check(const char* argument, const Group& group, const char* stringtag) {
  for (int length = 0; stringtag[length]; ++length)
    if (length >= MPI_MAX_STRINGTAG_LEN)
      return fail(MPI_ERR_ARG, "argument.too_long",
                  {{"argument", "stringtag"}, {"length", std::strlen(stringtag)}, {"most", MPI_MAX_STRINGTAG_LEN}});
  if (group.own_rank() < 0)
    return fail(MPI_ERR_GROUP, "comm.caller_not_member", {{"argument", argument}, {"size", group.size()}});
  return {};
}

Status make_from(Group& group, const char* stringtag, Purpose purpose, Errhandler& errhandler, Comm** result) {
  Comm* everyone = nullptr;
  ASHLAR_TRY(Engine::current().services.everyone(&everyone));
  std::uint32_t context = 0;
  ASHLAR_TRY(agree(*everyone, group, tag_of(stringtag, &group, purpose), &context));
  return make(Ref<Group>::share(group), context, errhandler, nullptr, result);
}

}  // namespace

Status create_from_group(Group& group, const char* stringtag, Info* info, Errhandler& errhandler, Comm** result) {
  const progress::UserCall call("MPI_Comm_create_from_group", stringtag);
  *result = nullptr;
  if (group.size() == 0) return {};
  ASHLAR_TRY(check("group", group, stringtag));
  return with_info(make_from(group, stringtag, kWhole, errhandler, result), info, result);
}

Status intercomm_create_from_groups(Group& local, int local_leader, Group* remote, int remote_leader,
                                    const char* stringtag, Info* info, Errhandler& errhandler, Comm** result) {
  const progress::UserCall call("MPI_Intercomm_create_from_groups", stringtag);
  *result = nullptr;
  const bool leads = local.size() > 0 && local.own_rank() == local_leader;
  if (local.size() == 0 || (remote && remote->size() == 0)) return {};
  ASHLAR_TRY(check("local_group", local, stringtag));
  if (local_leader < 0 || local_leader >= local.size())
    return fail(
        MPI_ERR_RANK, "argument.group_rank",
        {{"argument", "local_leader"}, {"value", local_leader}, {"group", "local_group"}, {"last", local.size() - 1}});
  Comm* everyone = nullptr;
  ASHLAR_TRY(Engine::current().services.everyone(&everyone));
  Comm* among_us = nullptr;
  ASHLAR_TRY(make_from(local, stringtag, kLocalHalf, errhandler, &among_us));
  Status fit;
  Rank far = -1;
  if (leads && !remote)
    fit = fail(MPI_ERR_GROUP, "comm.leader_argument", {{"argument", "remote_group"}, {"kind", "group"}});
  else if (leads && (remote_leader < 0 || remote_leader >= remote->size()))
    fit = fail(MPI_ERR_RANK, "argument.group_rank",
               {{"argument", "remote_leader"},
                {"value", remote_leader},
                {"group", "remote_group"},
                {"last", remote->size() - 1}});
  else if (leads)
    far = everyone->local_group->rank_of((*remote)[remote_leader]);
  const Span span{*among_us, local_leader, everyone, far, tag_of(stringtag, nullptr, kBridge)};
  Status made = agree_to_talk(span, fit);
  if (made.ok()) made = make_spanning(span, errhandler, result);
  release(among_us);
  return with_info(made, info, result);
}

}  // namespace ashlar::comm

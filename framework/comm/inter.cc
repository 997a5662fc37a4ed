// Intercommunicators: made of two groups that have a bridge between them, and merged into one group.
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "framework/base/failure.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/engine.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/comm/outside.h"
#include "framework/comm/roster.h"
#include "framework/comm/words.h"
#include "framework/object/comm.h"
#include "framework/object/group_algebra.h"
#include "framework/object/group_builder.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

Status check_local(const Comm& local, int leader) {
  if (local.inter) return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "local_comm"}, {"value", local.name}});
  if (leader >= 0 && leader < local.size) return {};
  return fail(
      MPI_ERR_RANK, "argument.rank",
      {{"argument", "local_leader"}, {"value", leader}, {"communicator", local.name}, {"last", local.size - 1}});
}

/// What only the leader's arguments tell.
Status check_bridge(const Comm* peer, int remote_leader) {
  if (!peer) return fail(MPI_ERR_COMM, "comm.leader_argument", {{"argument", "peer_comm"}, {"kind", "communicator"}});
  if (remote_leader >= 0 && remote_leader < peer->remote_size) return {};
  return fail(MPI_ERR_RANK, "argument.rank",
              {{"argument", "remote_leader"},
               {"value", remote_leader},
               {"communicator", peer->name},
               {"last", peer->remote_size - 1}});
}

Status check_disjoint(const Group& local, const Group& remote) {
  const Rank both = group::first_member(local, remote, true);
  if (both < 0) return {};
  return fail(MPI_ERR_COMM, "comm.overlap", {{"rank", both}, {"remote_rank", remote.rank_of(local[both])}});
}

/// The same in every process, whatever the numbers are there.
bool comes_before(PeerId one, PeerId other) {
  Outside* const outside = Engine::current().outside;
  return outside ? outside->identity_of(one) < outside->identity_of(other) : one < other;
}

Group* joined(const Group& first, const Group& second) {
  GroupBuilder members;
  members.append_all(first);
  members.append_all(second);
  return members.finish();
}

}  // namespace

Status make_spanning(const Span& span, Errhandler& handler, Comm** result) {
  const std::vector<std::int64_t> ours = words_of(*span.local.local_group);
  std::vector<std::int64_t> theirs;
  ASHLAR_TRY(span.trade(ours, &theirs));
  Introduced guests;
  if (!are_of_one_job(ours, theirs)) ASHLAR_TRY(introduce_groups(span, theirs, &guests));
  const Ref<Group> remote = Ref<Group>::adopt(group_from(theirs));
  if (!remote) return fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "a group"}, {"ranks", theirs[0]}});
  // Every process of both groups finds the same, so none is left waiting.
  ASHLAR_TRY(check_disjoint(*span.local.local_group, *remote));
  std::uint32_t context = 0;
  ASHLAR_TRY(agree_with(
      Engine::current().ids, [&](std::int64_t* values, int n) { return span.max(values, n); }, ContextIds::kStep,
      &context));
  return make_inter(span.local.local_group, remote, context, handler, &span.local, result);
}

Status agree_to_talk(const Span& span, Status fit) {
  std::int64_t failed = fit.mpi_class();
  ASHLAR_TRY(broadcast_words(span.local, span.leader, &failed, 1));
  ASHLAR_TRY(fit);
  if (failed == MPI_SUCCESS) return {};
  return fail(static_cast<int>(failed), "comm.leader_failed", {{"rank", span.leader}});
}

Status intercomm_create(Comm& local, int local_leader, Comm* peer, int remote_leader, int tag, Comm** result) {
  const progress::UserCall call("MPI_Intercomm_create", &local, tag);
  *result = nullptr;
  ASHLAR_TRY(check_local(local, local_leader));
  const Span span{local, local_leader, peer, remote_leader, tag};
  ASHLAR_TRY(agree_to_talk(span, span.leads() ? check_bridge(peer, remote_leader) : Status{}));
  return make_spanning(span, *local.errhandler, result);
}

Status intercomm_merge(Comm& inter, int high, Comm** result) {
  const progress::UserCall call("MPI_Intercomm_merge", &inter);
  *result = nullptr;
  if (!inter.inter) return fail(MPI_ERR_COMM, "comm.not_inter", {{"argument", "intercomm"}, {"value", inter.name}});
  // A group speaks with its first member's voice, also to itself: the order is the same everywhere, whatever was
  // passed.
  std::int64_t our_word = high != 0;
  ASHLAR_TRY(broadcast_words(*inter.local_comm, 0, &our_word, 1));
  std::vector<std::int64_t> their_word;
  ASHLAR_TRY(span_of(inter).trade({our_word}, &their_word));
  const bool we_first =
      our_word != their_word[0] ? our_word == 0 : comes_before((*inter.local_group)[0], (*inter.remote_group)[0]);
  std::uint32_t context = 0;
  ASHLAR_TRY(take_id(inter, &context));
  const Ref<Group> all = Ref<Group>::adopt(we_first ? joined(*inter.local_group, *inter.remote_group)
                                                    : joined(*inter.remote_group, *inter.local_group));
  if (!all) return object::none_left("the group of a merged communicator", groups_alive());
  all->origin = inter.local_group->origin;
  return make(all, context, *inter.errhandler, nullptr, result);
}

}  // namespace ashlar::comm

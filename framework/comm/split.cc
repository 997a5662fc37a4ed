#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/base/failure.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/comm/split.h"
#include "framework/object/comm.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

int key_of(std::int64_t word) { return static_cast<int>(static_cast<std::uint32_t>(word)); }

}  // namespace

Group* members_of(const Group& group, const std::vector<std::int64_t>& choices, int color) {
  const auto chosen = [&](std::int64_t word) { return choice_color(word) == color; };
  std::vector<PeerId> members;  // their ranks first
  members.reserve(static_cast<std::size_t>(std::ranges::count_if(choices, chosen)));
  for (std::size_t r = 0; r < choices.size(); ++r)
    if (chosen(choices[r])) members.push_back(static_cast<PeerId>(r));
  const auto key = [&](PeerId rank) { return key_of(choices[rank]); };
  if (!std::ranges::is_sorted(members, {}, key)) std::ranges::stable_sort(members, {}, key);
  for (PeerId& member : members) member = group[static_cast<Rank>(member)];
  Group* const made = Group::of(members);
  if (made) made->origin = group.origin;
  return made;
}

Status split(Comm& comm, int color, int key, Comm** result) {
  const progress::UserCall call("MPI_Comm_split", &comm);
  *result = nullptr;
  if (color < 0 && color != MPI_UNDEFINED)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "color"}, {"value", color}, {"wanted", "0 or more, or MPI_UNDEFINED"}});
  const std::int64_t mine = choice_word(color, key);
  std::vector<std::int64_t> ours, theirs;
  ASHLAR_TRY(gather_words(comm.inter ? *comm.local_comm : comm, &mine, 1, &ours));
  if (comm.inter) ASHLAR_TRY(span_of(comm).trade(ours, &theirs));
  std::uint32_t context = 0;
  ASHLAR_TRY(take_id(comm, &context));  // disjoint communicators may share them
  if (color == MPI_UNDEFINED) return {};

  const Ref<Group> local = Ref<Group>::adopt(members_of(*comm.local_group, ours, color));
  if (!local) return object::none_left("the group of a communicator", groups_alive());
  if (!comm.inter) return make(local, context, *comm.errhandler, nullptr, result);
  const Ref<Group> remote = Ref<Group>::adopt(members_of(*comm.remote_group, theirs, color));
  if (!remote) return object::none_left("the group of a communicator", groups_alive());
  if (remote->size() == 0) return {};
  return make_inter(local, remote, context, *comm.errhandler, nullptr, result);
}

}  // namespace ashlar::comm

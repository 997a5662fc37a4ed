#include "framework/topo/make.h"

#include <mpi.h>

#include <numeric>

#include "framework/base/failure.h"
#include "framework/comm/context.h"
#include "framework/comm/make.h"
#include "framework/object/comm.h"
#include "framework/object/group_builder.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"

namespace ashlar::topo {

Status intra_only(const Comm& comm) {
  if (!comm.inter) return {};
  return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "comm"}, {"value", comm.name}});
}

std::vector<Rank> as_they_are(int n) {
  std::vector<Rank> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Status make_ordered(Comm& comm, const std::vector<Rank>& order, Comm** result) {
  *result = nullptr;
  std::uint32_t context = 0;
  ASHLAR_TRY(comm::take_id(comm, &context));
  GroupBuilder members;
  bool all_as_before = static_cast<int>(order.size()) == comm.size, among = false;
  for (std::size_t r = 0; r < order.size(); ++r) {
    members.append((*comm.local_group)[order[r]]);
    among = among || order[r] == comm.rank;
    all_as_before = all_as_before && order[r] == static_cast<Rank>(r);
  }
  if (!among) return {};
  if (all_as_before) return comm::make(comm.local_group, context, *comm.errhandler, &comm, result);
  const Ref<Group> group = Ref<Group>::adopt(members.finish());
  if (!group) return object::none_left("the group of a communicator", groups_alive());
  group->origin = comm.local_group->origin;
  return comm::make(group, context, *comm.errhandler, nullptr, result);
}

}  // namespace ashlar::topo

#include "framework/comm/outside.h"

#include <algorithm>

#include "framework/comm/engine.h"
#include "framework/object/comm.h"
#include "framework/object/group.h"

namespace ashlar::comm {
namespace {

template <class Visit>
void each_of_other_jobs(const Group& group, Outside& outside, Visit visit) {
  if (!outside.knows_others()) return;
  for (Rank r = 0; r < group.size(); ++r)
    if (const PeerId peer = group[r]; outside.is_of_other_job(peer)) visit(peer);
}

template <class Visit>
void each_of_other_jobs(const Comm& comm, Outside& outside, Visit visit) {
  each_of_other_jobs(*comm.local_group, outside, visit);
  if (comm.inter) each_of_other_jobs(*comm.remote_group, outside, visit);
}

/// The identities of the nodes that processes of the communicator run on, each once, in ascending order.
std::vector<std::uint64_t> identities_of_nodes(const Comm& comm) {
  Services& services = Engine::current().services;
  std::vector<std::uint64_t> all;
  for (Rank r = 0; r < comm.local_group->size(); ++r) all.push_back(services.node_identity((*comm.local_group)[r]));
  for (Rank r = 0; comm.inter && r < comm.remote_group->size(); ++r)
    all.push_back(services.node_identity((*comm.remote_group)[r]));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::uint32_t index_in(const std::vector<std::uint64_t>& nodes, PeerId peer) {
  const std::uint64_t identity = Engine::current().services.node_identity(peer);
  return static_cast<std::uint32_t>(std::lower_bound(nodes.begin(), nodes.end(), identity) - nodes.begin());
}

}  // namespace

std::vector<std::uint32_t> nodes_of(const Comm& comm) {
  const bool several = spans_jobs(comm);
  const std::vector<std::uint64_t> nodes = several ? identities_of_nodes(comm) : std::vector<std::uint64_t>();
  std::vector<std::uint32_t> out;
  for (Rank r = 0; r < comm.local_group->size(); ++r) {
    const PeerId peer = (*comm.local_group)[r];
    out.push_back(several ? index_in(nodes, peer) : Engine::current().services.node_of(peer));
  }
  return out;
}

std::uint32_t own_node_in(const Comm& comm) {
  return spans_jobs(comm) ? index_in(identities_of_nodes(comm), Group::self_peer)
                          : Engine::current().services.node_of(Group::self_peer);
}

void hold(const Comm& comm) {
  if (Outside* const outside = Engine::current().outside)
    each_of_other_jobs(comm, *outside, [outside](PeerId peer) { outside->hold(peer); });
}

void let_go(const Comm& comm) {
  if (Outside* const outside = Engine::current().outside)
    each_of_other_jobs(comm, *outside, [outside](PeerId peer) { outside->let_go(peer); });
}

bool spans_jobs(const Group& group) {
  const Outside* const outside = Engine::current().outside;
  if (outside == nullptr || !outside->knows_others()) return false;
  for (const Run& run : group.runs())
    if (outside->is_of_other_job(static_cast<PeerId>(std::max(run.first, run.last())))) return true;
  return std::any_of(group.table().begin(), group.table().end(),
                     [outside](PeerId peer) { return outside->is_of_other_job(peer); });
}

bool spans_jobs(const Comm& comm) {
  return spans_jobs(*comm.local_group) || (comm.inter && spans_jobs(*comm.remote_group));
}

}  // namespace ashlar::comm

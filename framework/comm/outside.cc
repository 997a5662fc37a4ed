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

}  // namespace

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

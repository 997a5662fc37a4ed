// MPI_Win_post, start, complete, wait and test: epochs between groups of processes.
#include <mpi.h>

#include <new>
#include <vector>

#include "framework/base/failure.h"
#include "framework/object/group.h"
#include "framework/progress/waiting.h"
#include "framework/rma/api.h"
#include "framework/rma/check.h"
#include "framework/rma/epochs.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

/// The ranks in the window's group of the members of `group`.
Status find_ranks(const RmaWindow& window, Group& group, RanksOfGroup* out) {
  *out = {};
  for (Rank member = 0; member < group.size(); ++member) {
    const Rank rank = window.group->rank_of(group[member]);
    if (rank < 0)
      return fail(MPI_ERR_GROUP, "rma.not_member",
                  {{"argument", "group"}, {"value", member}, {"window", window.label()}});
    out->ranks.push_back(rank);
  }
  out->group = Ref<Group>::share(group);
  return {};
}
inline Status ranks_of(const RmaWindow& window, Group& group, RanksOfGroup* out) {
  return out->group.get() == &group ? Status() : find_ranks(window, group, out);
}

/// Room for the groups.
Status prepare(RmaWindow& window) {
  if (window.groups == nullptr) window.groups.reset(new (std::nothrow) Groups);
  if (window.groups != nullptr) return {};
  return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the epochs of a window"}});
}

Status close_exposure(RmaWindow& window, const char* last) {
  window.epochs.exposure = ExposureEpoch::kNone;
  window.epochs.last = last;
  return window.check == nullptr ? Status() : window.check->end_exposure();
}

Status end_exposure(RmaWindow& window, bool wait, bool* over) {
  if (window.epochs.exposure != ExposureEpoch::kPost)
    return wrong_epoch(window, "an exposure epoch of MPI_Win_post to be open");
  return window.sync->exposure_over(window.groups->posted.ranks, wait, over);
}

}  // namespace

Status win_post(Group& group, int assert, Window& win) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_assert(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
                          "MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT"));
  if (window.epochs.exposure == ExposureEpoch::kPost)
    return wrong_epoch(window, "no exposure epoch of MPI_Win_post to be open");
  if (window.epochs.exposure == ExposureEpoch::kFence && !accesses_nothing(window))
    return wrong_epoch(window, "no epoch of MPI_Win_fence to be open in which operations were called");
  ASHLAR_TRY(prepare(window));
  ASHLAR_TRY(ranks_of(window, group, &window.groups->posted));
  Status checked;
  if (window.check != nullptr) [[unlikely]]
    checked = window.check->begin_exposure(assert);
  if (window.epochs.access == AccessEpoch::kFence) leave_fence(window);
  ASHLAR_TRY(window.sync->post(window.groups->posted.ranks, (assert& MPI_MODE_NOCHECK) != 0));
  window.epochs.exposure = ExposureEpoch::kPost;
  window.epochs.last = "MPI_Win_post";
  return checked;
}

Status win_start(Group& group, int assert, Window& win) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"));
  if (!accesses_nothing(window)) return wrong_epoch(window, "no access epoch to be open");
  ASHLAR_TRY(prepare(window));
  ASHLAR_TRY(ranks_of(window, group, &window.groups->started));
  const std::vector<Rank>& started = window.groups->started.ranks;
  Target* entry = nullptr;
  for (const Rank rank : started) ASHLAR_TRY(window.targets.find_or_make(window, rank, &entry));
  if (window.epochs.access == AccessEpoch::kFence) leave_fence(window);
  ASHLAR_TRY(window.sync->start(started, (assert& MPI_MODE_NOCHECK) != 0));
  for (const Rank rank : started) window.targets.find(rank)->open = true;
  window.epochs.access = AccessEpoch::kStart;
  window.epochs.last = "MPI_Win_start";
  return {};
}

Status win_complete(Window& win) {
  RmaWindow& window = of(win);
  if (window.epochs.access != AccessEpoch::kStart)
    return wrong_epoch(window, "an access epoch of MPI_Win_start to be open");
  Status first;
  const std::vector<Rank>& started = window.groups->started.ranks;
  for (const Rank rank : started) {
    Target& target = *window.targets.find(rank);
    const Status flushed = flush("MPI_Win_complete", window, target, true);
    if (first.ok()) first = flushed;
    target.open = false;
  }
  // The targets wait for this, whether or not an operation failed.
  const Status told = window.sync->complete(started);
  window.epochs.access = AccessEpoch::kNone;
  window.epochs.last = "MPI_Win_complete";
  if (first.ok()) first = told;
  if (window.check != nullptr && first.ok()) [[unlikely]]
    first = window.check->report();
  return first;
}

Status win_wait(Window& win) {
  RmaWindow& window = of(win);
  bool over = false;
  ASHLAR_TRY(end_exposure(window, true, &over));
  return close_exposure(window, "MPI_Win_wait");
}

Status win_test(Window& win, int* flag) {
  RmaWindow& window = of(win);
  bool over = false;
  ASHLAR_TRY(end_exposure(window, false, &over));
  *flag = over ? 1 : 0;
  if (over) return close_exposure(window, "MPI_Win_test");
  Lane& lane = window.lane();
  const LaneGuard guard(lane.lock);
  progress::look(lane);
  return {};
}

}  // namespace ashlar::rma

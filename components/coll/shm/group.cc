#include "components/coll/shm/group.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <new>
#include <span>

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"
#include "framework/base/log.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/dispatch.h"

namespace ashlar::coll::shm {
namespace {

/// Everyone looks at everyone only where all ranks run at once; beyond a few, one line for all is cheaper to watch.
constexpr int kFlatRanks = 8;

struct TurnWait : Condition {
  Group* group;
  std::uint64_t number;
  TurnWait(const Visit& visit) : group(visit.group), number(visit.number) { holds = &TurnWait::look; }
  static bool look(Condition& self) {
    auto& wait = static_cast<TurnWait&>(self);
    return wait.group->turn == wait.number;
  }
};

struct Answer {
  std::int64_t attached;
};

/// What others must know of us, before they hear that we are in.
void tell_cores(RankLine& line) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;  // a set of its own, as it were: no core
  line.core_count = static_cast<std::uint32_t>(CPU_COUNT(&set));
  line.cores = 14695981039346656037u;  // FNV-1a
  for (const unsigned char byte : std::span(reinterpret_cast<const unsigned char*>(&set), sizeof set))
    line.cores = (line.cores ^ byte) * 1099511628211u;
}

void introduce(Group& group, Rank me) {
  group.probe = group.segment.layout().header().nonce;
  RankLine& line = group.segment.layout().rank(static_cast<std::uint32_t>(me));
  line.pid = getpid();
  line.probe = address_of(&group.probe);
  tell_cores(line);
}

/// How many ranks copy at a time: where they take turns, as many as the cores they share. All, where each has a core,
/// or they are bound to different ones.
std::uint32_t movers_of(const Engine& engine, const Layout& layout) {
  const std::uint64_t wanted = configuration().movers;
  const std::uint32_t ranks = layout.header().ranks;
  if (wanted != 0) return wanted < ranks ? static_cast<std::uint32_t>(wanted) : 0;
  if (!engine.job.oversubscribed) return 0;
  const RankLine& first = layout.rank(0);
  for (std::uint32_t r = 1; r < ranks; ++r) {
    if (layout.rank(r).cores != first.cores) return 0;
  }
  return first.core_count < ranks ? first.core_count : 0;
}

/// Rank 0 makes the segment and invites the others; each says whether it is in; rank 0 says whether all are.
Co attach(Op& op, Group& group) {
  const int size = op.size();
  record_places(static_cast<std::uint32_t>(size));
  Gate gate;
  Status st;
  Invitation invitation{};
  Answer verdict{0};
  if (op.rank() == 0) {
    const bool flat = size <= kFlatRanks && !op.comm()->engine.job.oversubscribed;
    const Status made = group.segment.make(static_cast<std::uint32_t>(size),
                                           blocks_bytes(static_cast<std::uint32_t>(size)), flat, &invitation);
    verdict.attached = made.ok() ? 1 : 0;
    if (!made.ok()) ASHLAR_LOG(info, "coll.shm", "%s", made.text());
    if (made.ok()) introduce(group, 0);
    auto* const answers = reinterpret_cast<Answer*>(op.scratch(size * static_cast<MPI_Count>(sizeof(Answer))));
    for (int r = 1; r < size; ++r) {
      op.send(r, &invitation, sizeof invitation, gate);
      op.recv(r, &answers[r], sizeof(Answer), gate);
    }
    st = co_await gate;
    if (!st.ok()) co_return st;
    for (int r = 1; r < size; ++r) {
      if (answers[r].attached == 0) verdict.attached = 0;
    }
    for (int r = 1; r < size; ++r) op.send(r, &verdict, sizeof verdict, gate);
    st = co_await gate;
  } else {
    op.recv(0, &invitation, sizeof invitation, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    Answer answer{0};
    if (invitation.pid != 0) {
      const Status attached = group.segment.attach(invitation);
      answer.attached = attached.ok() ? 1 : 0;
      if (!attached.ok()) ASHLAR_LOG(info, "coll.shm", "%s", attached.text());
      if (attached.ok()) introduce(group, op.rank());
    }
    op.send(0, &answer, sizeof answer, gate);
    op.recv(0, &verdict, sizeof verdict, gate);
    st = co_await gate;
  }
  if (!st.ok()) co_return st;
  group.segment.all_attached();
  group.state = verdict.attached != 0 ? Group::State::kAttached : Group::State::kRefused;
  if (group.state == Group::State::kAttached) {
    group.flat = group.segment.layout().header().flat != 0;
    group.movers = movers_of(op.comm()->engine, group.segment.layout());
    if (op.rank() == 0 && group.movers != 0) record_movers(group.movers, static_cast<std::uint32_t>(op.size()));
  }
  co_return st;
}

/// Whether the edges of this rank's topology fit into its place. Without a topology there are none.
bool edges_fit(const Op& op) {
  const Topology* const topology = op.comm()->comm.topology.get();
  if (topology == nullptr) return true;
  return table_bytes(topology->destinations().size(), topology->sources().size()) <=
         blocks_bytes(static_cast<std::uint32_t>(op.size()));
}

/// Everyone tries to reach everyone, and leaves in its line whether it could; and whether its edges fit.
Co prove(Op& op, const Visit& visit) {
  Status st;
  Group& group = *visit.group;
  const Layout& layout = visit.layout();
  Line& mine = layout.contribution(visit.number, static_cast<std::uint32_t>(op.rank()));
  mine.data[0] = std::byte{reaches_everyone(op, visit)};
  mine.data[1] = std::byte{edges_fit(op)};
  sign(op, visit);
  wake_sleepers(op, visit);
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  bool all = true, fit = true;
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (layout.contribution(visit.number, r).data[0] == std::byte{0}) all = false;
    if (layout.contribution(visit.number, r).data[1] == std::byte{0}) fit = false;
  }
  group.edges_fit = fit;
  group.reach = all ? Group::Reach::kProved : Group::Reach::kRefused;
  done(op, visit);
  co_return st;
}

}  // namespace

Group* Group::make(Op& op, Slot& slot) {
  slot.data = new (std::nothrow) Group;
  slot.drop = [](void* data) { delete static_cast<Group*>(data); };
  if (slot.data == nullptr) op.fail(Status::fail(MPI_ERR_NO_MEM, "no memory for a communicator's shared segment"));
  return static_cast<Group*>(slot.data);
}

bool Group::look_who_is_done(std::uint64_t number, std::uint64_t ahead) {
  const Layout& layout = segment.layout();
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    const std::uint64_t done = layout.rank(r).done.load(std::memory_order_acquire);
    if (done < least) least = done;
  }
  all_done = least;
  return least + ahead >= number;
}

Co late(Op& op, const Call& call, Visit visit, Body body) {
  Group& group = *visit.group;
  Gate gate;
  Status st;
  TurnWait turn(visit);
  st = co_await turn;
  if (st.ok() && group.state == Group::State::kNew) {
    const Co attaching = attach(op, group);
    op.join(attaching, gate);
    st = co_await gate;
  }
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  if (group.state == Group::State::kRefused) {
    visit.leave();
    const Co other = instead(op, call, op.component());
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  SlotWait slot(op, visit);
  st = co_await slot;
  if (slot.failed()) co_return st;
  visit.note(op.rank());
  if (visit.proves) {
    const Co proving = prove(op, visit);
    op.join(proving, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    ++visit.number;
  }
  if (visit.reach == Stay::Reach::kNeeded && group.reach == Group::Reach::kRefused) {
    visit.number = visit.last;
    done(op, visit);
    const Co other = instead_of(op, call, kReaches);
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  const Co inner = body(op, call, visit);
  op.join(inner, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::shm

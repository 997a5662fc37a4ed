#include "components/coll/shm/group.h"

#include <mpi.h>
#include <unistd.h>

#include <new>

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
void introduce(Group& group, Rank me) {
  group.probe = group.segment.layout().header().nonce;
  RankLine& line = group.segment.layout().rank(static_cast<std::uint32_t>(me));
  line.pid = getpid();
  line.probe = address_of(&group.probe);
}

/// Rank 0 makes the segment and invites the others; each says whether it is in; rank 0 says whether all are.
Co attach(Op& op, Group& group) {
  const int size = op.size();
  Gate gate;
  Status st;
  Invitation invitation{};
  Answer verdict{0};
  if (op.rank() == 0) {
    const bool flat = size <= kFlatRanks && !Room::current()->surroundings.oversubscribed;
    const Status made = group.segment.make(static_cast<std::uint32_t>(size),
                                           place_bytes(static_cast<std::uint32_t>(size)), flat, &invitation);
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
  if (group.state == Group::State::kAttached) group.flat = group.segment.layout().header().flat != 0;
  co_return st;
}

/// Everyone tries to reach everyone, and leaves in its line whether it could.
Co prove(Op& op, const Visit& visit) {
  Status st;
  Group& group = *visit.group;
  const Layout& layout = visit.layout();
  Line& mine = layout.contribution(visit.number, static_cast<std::uint32_t>(op.rank()));
  mine.data[0] = std::byte{reaches_everyone(op, visit)};
  sign(op, visit);
  wake_sleepers(op, visit);
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  bool all = true;
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (layout.contribution(visit.number, r).data[0] == std::byte{0}) all = false;
  }
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

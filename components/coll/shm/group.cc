#include "components/coll/shm/group.h"

#include <mpi.h>

#include <new>

#include "components/coll/shm/config.h"
#include "framework/base/log.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/dispatch.h"

namespace ashlar::coll::shm {
namespace {

/// Everyone looks at everyone only where all ranks run at once; beyond a few, one line for all is cheaper to watch.
constexpr int kFlatRanks = 8;

void announce_sleep(const Layout& layout, std::uint32_t me) {
  layout.rank(me).sleeping.fetch_add(1, std::memory_order_seq_cst);
  layout.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
}
void take_back_sleep(const Layout& layout, std::uint32_t me) {
  layout.header().sleepers.fetch_sub(1, std::memory_order_relaxed);
  layout.rank(me).sleeping.fetch_sub(1, std::memory_order_relaxed);
}

struct TurnWait : Condition {
  Group* group;
  std::uint64_t number;
  static bool look(Condition& self) {
    auto& wait = static_cast<TurnWait&>(self);
    return wait.group->turn == wait.number;
  }
};

struct SlotWait : Condition {
  Group* group;
  const Visit* visit;
  std::uint32_t me;
  bool announced;
  static bool look(Condition& self) {
    auto& wait = static_cast<SlotWait&>(self);
    return wait.group->slot_free(wait.visit->number, wait.visit->ahead);
  }
  static void announce(Condition& self) {
    auto& wait = static_cast<SlotWait&>(self);
    if (!wait.announced) announce_sleep(wait.group->segment.layout(), wait.me);
    wait.announced = true;
  }
};

struct Answer {
  std::int64_t attached;
};

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

Co prepare(Op& op, const Call& call, Visit& visit) {
  Group& group = *visit.group;
  Gate gate;
  Status st;
  TurnWait turn;
  turn.holds = &TurnWait::look;
  turn.group = &group;
  turn.number = visit.number;
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
    visit.served_otherwise = true;
    visit.leave();
    const Co other = instead(op, call, op.component());
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  SlotWait slot;
  slot.holds = &SlotWait::look;
  slot.before_sleep = &SlotWait::announce;
  slot.me = static_cast<std::uint32_t>(op.rank());
  slot.announced = false;
  slot.group = &group;
  slot.visit = &visit;
  st = co_await slot;
  if (slot.announced) take_back_sleep(group.segment.layout(), slot.me);
  if (!st.ok()) visit.leave();
  co_return st;
}

void wake_announced(Op& op, const Visit& visit) {
  const Layout& layout = visit.layout();
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (r != static_cast<std::uint32_t>(op.rank()) && layout.rank(r).sleeping.load(std::memory_order_relaxed) != 0)
      op.wire().wake(static_cast<Rank>(r));
  }
}

bool LineWait::look(Condition& self) {
  auto& wait = static_cast<LineWait&>(self);
  return wait.seen();
}

void LineWait::announce(Condition& self) {
  auto& wait = static_cast<LineWait&>(self);
  if (wait.announced) return;
  wait.announced = true;
  announce_sleep(wait.layout, wait.me);
}

void LineWait::take_back() {
  announced = false;
  take_back_sleep(layout, me);
}

}  // namespace ashlar::coll::shm

// Collective accesses as coroutines. The sources of a coroutine include op.h, which has what the awaiters need.
#include "framework/base/clock.h"
#include "framework/coll/op.h"
#include "framework/io/engine.h"
#include "framework/io/together.h"
#include "framework/progress/lane.h"

namespace ashlar::io {

using coll::Co;
using coll::Op;
using Until = Meeting::Until;

// The step out gives others the lock while the system moves data; a blocking coroutine runs on its caller's stack.
void submit(Op& op, Together& access, MoveJob::Work work, std::uint64_t round, Gate& gate) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *op.wire().lane();
  access.job.work = work;
  access.job.round = round;
  access.job.lane = &lane;
  if (op.blocking()) {
    lane.lock.step_out();
    access.job.run();
    lane.lock.step_in();
    return;
  }
  gate.add();
  access.job.gate = &gate;
  access.file().counts.asynchronous.add();
  Engine::current().worker.push(access.job);
}

// A window is filled by all whose data may lie in it, and written by its aggregator while the others fill those of the
// next round: each aggregator has two. In atomic mode the ranks fill it one after the other. That ends: of the
// processes that wait for lower ranks, the lowest waits for none.
Co write_rounds(Op& op, Together& access) {
  const std::uint32_t all = access.plan.aggregators;
  const std::uint32_t own = access.own_index();
  const Rank rank = access.file().comm->rank;
  Gate gate;
  for (std::uint64_t round = 0; round < access.plan.rounds; ++round) {
    for (std::uint32_t turn = 0; turn < all; ++turn) {
      const std::uint32_t index = access.ordered() ? turn : (own + turn) % all;
      if (!access.visits(rank, access.window_begin(round, index))) continue;
      Meeting open(access, Until::kTurned, access.aggregator(index), round);
      Status met = co_await open;
      if (!met.ok()) co_return met;
      if (access.ordered()) {
        Meeting lower = Meeting::lower(access, round, index);
        met = co_await lower;
        if (!met.ok()) co_return met;
      }
      access.fill(round, index);
      wake(access, op.wire());
    }
    if (own == all) continue;
    const std::uint64_t visitors = access.visitors(access.window_begin(round, own));
    if (visitors != 0) {
      access.expected[round % 2] = visitors;
      Meeting filled(access, Until::kVisited, rank, round);
      const Status met = co_await filled;
      if (!met.ok()) co_return met;
      submit(op, access, MoveJob::Work::kWriteWindow, round, gate);
      const Status moved = co_await gate;
      if (!moved.ok()) co_return moved;
    }
    access.own().visits[round % 2].store(0, std::memory_order_relaxed);
    access.own().turned.store(round + 3, std::memory_order_release);
    wake(access, op.wire());
  }
  co_return Status();
}

Co read_rounds(Op& op, Together& access) {
  const std::uint32_t all = access.plan.aggregators;
  const std::uint32_t own = access.own_index();
  const Rank rank = access.file().comm->rank;
  Gate gate;
  for (std::uint64_t round = 0; round < access.plan.rounds; ++round) {
    const std::uint64_t visitors = own == all ? 0 : access.visitors(access.window_begin(round, own));
    if (visitors != 0) {
      Meeting taken(access, Until::kVisited, rank, round);
      const Status met = co_await taken;
      if (!met.ok()) co_return met;
      submit(op, access, MoveJob::Work::kReadWindow, round, gate);
      const Status moved = co_await gate;
      if (!moved.ok()) co_return moved;
      access.expected[round % 2] = visitors;
      access.own().visits[round % 2].store(0, std::memory_order_relaxed);
      access.own().turned.store(round + 1, std::memory_order_release);
      wake(access, op.wire());
    }
    for (std::uint32_t turn = 0; turn < all; ++turn) {
      const std::uint32_t index = (own + turn) % all;
      if (!access.visits(rank, access.window_begin(round, index))) continue;
      Meeting there(access, Until::kTurned, access.aggregator(index), round);
      const Status met = co_await there;
      if (!met.ok()) co_return met;
      access.take(round, index);
      wake(access, op.wire());
    }
  }
  co_return Status();
}

namespace {

/// Until the windows are there, on all processes alike: else the way is another one.
Co prepare_windows(Op& op, Together& access) {
  Gate gate;
  if (access.file().atomic && access.file().comm->rank == 0) submit(op, access, MoveJob::Work::kLock, 0, gate);
  Status met = co_await gate;
  if (!met.ok()) co_return met;
  access.make_windows();
  wake(access, op.wire());
  Meeting ready(access, Until::kReady);
  met = co_await ready;
  if (!met.ok()) co_return met;
  if (!access.file().windows_reached) {
    access.map_windows();
    wake(access, op.wire());
    Meeting mapped(access, Until::kMapped);
    met = co_await mapped;
    if (!met.ok()) co_return met;
    (access.all_mapped() ? access.file().windows_reached : access.file().windows_refused) = true;
  }
  if (!access.file().windows_refused && access.have_windows()) co_return Status();
  access.plan.way = Way::kList;
  access.range.reset();  // each process takes its own
  co_return Status();
}

Co move_data(Op& op, Together& access) {
  Gate gate;
  if (access.plan.way == Way::kTwoPhase) {
    Co windows = prepare_windows(op, access);
    op.join(windows, gate);
    const Status met = co_await gate;
    if (!met.ok()) co_return met;
  }
  if (access.plan.way == Way::kTwoPhase) {
    Co rounds = access.what.writes ? write_rounds(op, access) : read_rounds(op, access);
    op.join(rounds, gate);
    const Status met = co_await gate;
    co_return met;
  }
  submit(op, access, MoveJob::Work::kOwn, 0, gate);
  const Status moved = co_await gate;
  co_return moved;
}

/// When the data of all is in the file.
Co read_again(Op& op, Together& access) {
  access.own().written.store(access.number, std::memory_order_release);
  wake(access, op.wire());
  Meeting written(access, Until::kWritten);
  const Status met = co_await written;
  if (!met.ok()) co_return met;
  Gate gate;
  submit(op, access, MoveJob::Work::kVerify, 0, gate);
  const Status done = co_await gate;
  co_return done;
}

}  // namespace

Co run_together(Op& op, Together& access) {
  if (access.file().shared == nullptr) {
    Gate gate;
    Co far = run_far(op, access);
    op.join(far, gate);
    const Status over = co_await gate;
    co_return over;
  }
  Meeting turn(access, Until::kTurn);
  Status met = co_await turn;
  if (!met.ok()) co_return met;
  access.publish();
  wake(access, op.wire());
  Meeting arrived(access, Until::kArrived);
  met = co_await arrived;
  if (!met.ok()) co_return met;
  if (access.what.in_turn) access.take_place();
  access.decide();
  if (!access.plan.stopped) {
    Gate gate;
    const std::uint64_t start = access.wish ? now_ns() : 0;
    Co moves = move_data(op, access);
    op.join(moves, gate);
    met = co_await gate;
    if (!met.ok()) co_return met;
    // A nonblocking access waits for processes that compute.
    if (access.wish) access.count_for_mapping(access.blocking ? static_cast<double>(now_ns() - start) : 0);
  }
  if (access.verifies()) {
    Gate gate;
    Co again = read_again(op, access);
    op.join(again, gate);
    met = co_await gate;
    if (!met.ok()) co_return met;
  }
  access.own().outcome = access.failure.mpi_class();
  access.own().over.store(access.number, std::memory_order_release);
  wake(access, op.wire());
  Meeting over(access, Until::kOver);
  met = co_await over;
  if (!met.ok()) co_return met;
  access.range.reset();
  access.drop_windows();
  met = access.result();
  access.file().together_over = access.number;
  co_return met;
}

}  // namespace ashlar::io

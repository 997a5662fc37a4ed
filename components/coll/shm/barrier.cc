#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {
namespace {

/// Choices::yield_to_root. What follows this barrier is often what came before it, with the same root: a rank that
/// leaves before the rank that it will wait for has a core which that one could use.
void yield_to_root(Op& op, const ShmComm& comm, const Ticket& ticket) {
  const ShmComm::Rooted rooted = comm.before;
  if (rooted.root < 0 || !op.blocking() || rooted.root_first == (rooted.root == op.rank())) return;
  const auto still_inside = [&ticket](Rank r) {
    return ticket.layout().rank(static_cast<std::uint32_t>(r)).done.load(std::memory_order_relaxed) < ticket.number;
  };
  bool ahead = rooted.root_first && still_inside(rooted.root);
  for (Rank r = 0; r < op.size() && !rooted.root_first && !ahead; ++r) ahead = still_inside(r);
  if (ahead) op.wire().give_way();
}

}  // namespace

Need small_need(const Op&, const Call& call) { return Need{.payloads = {.own = call.bytes, .any = call.bytes}}; }

/// Flat: after the flag barrier of J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
/// shared-memory multiprocessors", ACM TOCS 9(1), 1991, with one round. Central: their central counter with a number in
/// place of the sense.
Co barrier(Op& op, const Call&, Ticket ticket) {
  Status st;
  if (ticket.member->flat) {
    publish_and_wake(ticket);
  } else if (any_mismatch(ticket)) {
    // A rank that gave up may have counted itself in, so only lines can be relied upon.
    publish(ticket);
    arrive(ticket);
  } else if (last_to_arrive(ticket)) {
    publish_result_and_wake(ticket);
  }
  FlagWait wait = FlagWait::all_arrived(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  note_all_arrived(ticket);
  done(ticket);
  const ShmComm& comm = *ShmComm::of(op);
  if (comm.choices.yield_to_root) yield_to_root(op, comm, ticket);
  co_return st;
}

}  // namespace ashlar::coll::shm

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Flat: after the flag barrier of J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
/// shared-memory multiprocessors", ACM TOCS 9(1), 1991, with one round. Central: their central counter with a number in
/// place of the sense.
Co barrier(Op& op, const Call& call) {
  Visit visit = Visit::begin(op, 0);
  Gate gate;
  Status st;
  if (visit.group == nullptr) co_return op.failure();
  if (!visit.enter()) [[unlikely]] {
    const Co preparing = prepare(op, call, visit);
    op.join(preparing, gate);
    st = co_await gate;
    if (!st.ok() || visit.served_otherwise) co_return st;
  }
  const auto ranks = static_cast<std::uint32_t>(op.size());
  if (visit.group->flat) {
    Line& mine = visit.layout().contribution(visit.number, static_cast<std::uint32_t>(op.rank()));
    mine.number.store(visit.number, std::memory_order_release);
    wake_sleepers(op, visit);
  } else if (visit.layout().arrived(visit.number).fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    visit.layout().arrived(visit.number).store(0, std::memory_order_relaxed);
    visit.layout().result(visit.number).number.store(visit.number, std::memory_order_release);
    wake_sleepers(op, visit);
  }
  LineWait wait(op, visit, visit.group->flat);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  all_met(visit);
  done(op, visit);
  co_return st;
}

}  // namespace ashlar::coll::shm

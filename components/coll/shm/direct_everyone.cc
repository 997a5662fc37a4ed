#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/exchange.h"
#include "components/coll/shm/movers.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"
#include "framework/coll/dispatch.h"

namespace ashlar::coll::shm {
namespace {

/// Until somebody has signed along whose edges nothing has moved yet.
struct OffersWait : VisitWait {
  const Exchange* exchange;

  OffersWait(const Op& op, const Visit& of, const Exchange& ours) : VisitWait(op, of), exchange(&ours) {
    holds = [](Condition& self) {
      auto& wait = static_cast<OffersWait&>(self);
      return wait.seen() || wait.parted_elsewhere();
    };
  }
  bool seen() const { return exchange->any_new(); }
};

}  // namespace

Stay twice_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 2, Stay::Reach::kNeeded}; }

/// Allgather(v) and alltoall(v, w): everyone tells where its blocks lie and where those of the others go. Then each
/// rank writes its own and reads the others', whichever nobody else has begun with. Where ranks take turns on the
/// cores, as many copy at a time as there are cores (movers.h). With much to copy a rank begins with whoever is there;
/// with little it waits for all. A block that goes to everyone is written while it is in the cache. Each rank leaves
/// when all copies from and to its buffers are over. T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J. Squyres, J.
/// Dongarra, "Kernel assisted collective intra-node MPI communication among multi-core and many-core CPUs", ICPP 2011,
/// for the single copies; the blocks that lie in the segment are the message buffers of R. Graham, G. Shipman,
/// EuroPVM/MPI 2008.
///
/// The neighbourhood collectives are the same along the edges of a topology: a rank waits for those it has edges with,
/// and for nobody else. Of several edges between the same two ranks, the first outgoing belongs to the first incoming,
/// as in neighbor_linear of the algorithms by messages.
Co exchange_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const bool neighbours = call.topology != nullptr;
  if (neighbours && !visit.group->edges_fit) {
    visit.number = visit.last;
    done(op, visit);
    Gate gate;
    const Co other = instead_of(op, call, kListsEdges);
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  Exchange exchange(op, call, visit);
  exchange.offer();
  sign(op, visit);
  if (neighbours) {
    wake_sleepers(op, visit);
  } else {
    meet(op, visit);
  }
  const bool in_turns = Movers::limited(visit, exchange.amount());
  if (!in_turns) exchange.copy_own();
  if (!neighbours && !exchange.begins_early()) {
    LineWait offered = LineWait::everyone(op, visit);
    st = co_await offered;
    if (offered.failed()) co_return st;
    exchange.all_are_there();
  }
  while (!exchange.complete()) {
    OffersWait offered(op, visit, exchange);
    st = co_await offered;
    if (offered.failed()) co_return st;
    if (in_turns) {
      Movers mover(op, visit);
      st = co_await mover;
      if (mover.failed()) co_return st;
      exchange.copy_own();
      exchange.move();
      mover.next(op);
    } else {
      exchange.move();
    }
  }
  if (!neighbours) all_met(visit);
  ++visit.number;
  CopiesWait finished(op, visit, exchange.expected());
  st = co_await finished;
  if (finished.failed()) co_return st;
  if (!finished.all_went_well()) op.fail(other_rank_failed());
  exchange.finish();
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

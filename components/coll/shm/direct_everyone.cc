#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/exchange.h"
#include "components/coll/shm/movers.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"
#include "framework/coll/dispatch.h"

namespace ashlar::coll::shm {
namespace {

/// Until everyone we exchange blocks with along an edge has signed.
struct NeighboursWait : VisitWait {
  const Topology* topology;
  int next = 0;  // the first edge not seen yet: the incoming ones, then the outgoing ones

  NeighboursWait(const Op& op, const Visit& of, const Topology& edges) : VisitWait(op, of), topology(&edges) {
    holds = [](Condition& self) {
      auto& wait = static_cast<NeighboursWait&>(self);
      return wait.seen() || wait.parted_elsewhere();
    };
  }
  bool seen() {
    const int in = topology->indegree();
    for (; next < in + topology->outdegree(); ++next) {
      const auto edge = static_cast<std::size_t>(next < in ? next : next - in);
      const Rank other = next < in ? topology->sources()[edge] : topology->destinations()[edge];
      if (other == MPI_PROC_NULL) continue;
      const Line& line = visit->layout().contribution(visit->number, static_cast<std::uint32_t>(other));
      const std::uint64_t there = line.number.load(std::memory_order_acquire);
      if (there != visit->word()) return ((there ^ visit->word()) & kNumberMask) == 0 && part();
    }
    return true;
  }
};

}  // namespace

Stay twice_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 2, Stay::Reach::kNeeded}; }

/// Allgather(v) and alltoall(v, w): everyone tells where its blocks lie and where those of the others go. Then each
/// rank writes its own and reads the others', whichever nobody else has begun with. Where ranks take turns on the
/// cores, as many copy at a time as there are cores (movers.h): each is done with all of its blocks before the next one
/// begins, and has copied for both sides. A block that goes to everyone is written while it is in the cache. Each rank
/// leaves when all copies from and to its buffers are over. T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J. Squyres, J.
/// Dongarra, "Kernel assisted collective intra-node MPI communication among multi-core and many-core CPUs", ICPP 2011,
/// for the single copies; the blocks that lie in the segment are the message buffers of R. Graham, G. Shipman, EuroPVM/
/// MPI 2008.
Co exchange_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  Exchange exchange(op, call, visit);
  exchange.offer();
  sign(op, visit);
  meet(op, visit);
  const bool in_turns = Movers::limited(visit, exchange.amount());
  if (!in_turns) exchange.copy_own();
  LineWait offered = LineWait::everyone(op, visit);
  st = co_await offered;
  if (offered.failed()) co_return st;
  all_met(visit);
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
  ++visit.number;
  CopiesWait finished(op, visit, exchange.expected());
  st = co_await finished;
  if (finished.failed()) co_return st;
  if (!finished.all_went_well()) op.fail(other_rank_failed());
  exchange.finish();
  done(op, visit);
  co_return op.failure();
}

/// The same along the edges of a topology, for the neighbourhood collectives: a rank waits for those it has edges with,
/// and for nobody else. Of several edges between the same two ranks, the first outgoing belongs to the first incoming,
/// as in neighbor_linear of the algorithms by messages.
Co neighbor_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  if (!visit.group->edges_fit) {
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
  wake_sleepers(op, visit);
  const bool in_turns = Movers::limited(visit, exchange.amount());
  if (!in_turns) exchange.copy_own();
  NeighboursWait offered(op, visit, *call.topology);
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

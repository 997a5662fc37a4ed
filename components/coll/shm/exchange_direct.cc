#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/exchange.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

Co exchange_edges(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const bool among_all = call.topology == nullptr;
  Exchange exchange(op, call, ticket, ShmComm::of(op)->choices);
  exchange.write_table();
  publish(ticket);
  if (among_all) {
    arrive(ticket);
  } else {
    wake_sleepers(ticket);
  }
  exchange.copy_own();
  if (among_all && !exchange.begins_early()) {
    FlagWait published = FlagWait::all_arrived(ticket);
    st = co_await published;
    if (published.failed()) co_return st;
    exchange.set_all_published();
  }
  while (!exchange.complete()) {
    TablesWait published(ticket, exchange);
    st = co_await published;
    if (published.failed()) co_return st;
    exchange.copy_available();
  }
  if (among_all) note_all_arrived(ticket);
  ++ticket.number;
  CopiesWait copied(ticket, exchange.expected());
  st = co_await copied;
  if (copied.failed()) co_return st;
  if (!copied.all_succeeded()) op.fail(other_rank_failed());
  exchange.finish();
  done(ticket);
  co_return op.failure();
}

}  // namespace

Need direct_need(const Op&, const Call&) {
  return Need{
      .payloads = {.own = static_cast<MPI_Count>(kInline) + 1}, .numbers = 2, .single_copy = Need::SingleCopy::kAlways};
}

/// Allgather(v) and alltoall(v, w): every rank publishes where its blocks lie and where those for it go. Then each rank
/// writes its own blocks and reads the others', whichever the other end has not claimed. With much to copy a rank
/// begins with the ranks that have arrived; with little it waits for all. A block that goes to every rank is written
/// while it is in the cache. Each rank leaves when all copies from and to its buffers are over. T. Ma, G. Bosilca, A.
/// Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted collective intra-node MPI communication among
/// multi-core and many-core CPUs", ICPP 2011, for the single copies; the blocks that lie in the segment are the message
/// buffers of R. Graham, G. Shipman, EuroPVM/MPI 2008.
///
/// The neighbourhood collectives are the same along the edges of a topology: a rank waits for those it has edges with,
/// and for no others. Of several edges between the same two ranks, the first outgoing belongs to the first incoming, as
/// in neighbor_linear of the algorithms by messages.
Co exchange_direct(Op& op, const Call& call, Ticket ticket) {
  const bool fits = call.topology == nullptr || ShmComm::of(op)->edges_fit;
  return fits ? exchange_edges(op, call, ticket) : leave_to_others(op, call, ticket, kListsEdges);
}

}  // namespace ashlar::coll::shm

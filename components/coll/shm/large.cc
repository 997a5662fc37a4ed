#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/pieces.h"

namespace ashlar::coll::shm {
namespace {

/// This rank's part of a piece when the items are dealt to all ranks.
struct Slice {
  MPI_Count at, count;  // items
  Slice(const Op& op, MPI_Count items)
      : at(items * op.rank() / op.size()), count(items * (op.rank() + 1) / op.size() - at) {}
};

/// a0 op (a1 op (...)) of items [at, at + count) of the piece that lies in the ranks' places.
void combine_items(Op& op, const Call& call, const Visit& visit, MPI_Count at, MPI_Count count, std::byte* to) {
  const Layout& layout = visit.layout();
  const MPI_Count offset = at * call.send.type->size();
  const auto last = static_cast<std::uint32_t>(op.size()) - 1;
  op.combine(call, layout.large_contribution(visit.number, last - 1) + offset,
             layout.large_contribution(visit.number, last) + offset, to, count);
  for (std::uint32_t r = last - 1; r-- > 0;)
    op.combine(call, layout.large_contribution(visit.number, r) + offset, to, count);
}

/// Our operand's piece into our place.
void contribute_piece(Op& op, const Call& call, const Visit& visit, MPI_Count at, MPI_Count bytes) {
  op.copy_bytes(static_cast<const std::byte*>(call.send.data) + at,
                visit.layout().large_contribution(visit.number, static_cast<std::uint32_t>(op.rank())), bytes);
  sign(op, visit);
}

}  // namespace

Stay large_stay(const Op& op, const Call& call) {
  const auto pieces = static_cast<std::uint64_t>(Pieces::of(op, call).count());
  return Stay{static_cast<MPI_Count>(kInline) + 1, pieces > 0 ? pieces : 1};
}

/// The root writes piece after piece and runs ahead of the readers by as many as there are places; each reader copies
/// out. R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co bcast_large(Op& op, const Call& call, Visit visit) {
  const Pieces pieces = Pieces::of(op, call);
  const bool root = op.rank() == call.root;
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const auto bytes = static_cast<std::size_t>(pieces.bytes_at(at));
    SlotWait slot(op, visit);
    st = co_await slot;
    if (slot.failed()) co_return st;
    std::byte* const place = visit.layout().large_result(visit.number);
    if (root) {
      datatype::pack(call.recv, static_cast<std::size_t>(at), place, bytes);
      publish(op, visit);
    } else {
      LineWait wait = LineWait::from(op, visit, visit.layout().result(visit.number), call.root);
      st = co_await wait;
      if (wait.failed()) co_return st;
      datatype::unpack(call.recv, static_cast<std::size_t>(at), place, bytes);
    }
    done(op, visit);
    ++visit.number;
  }
  co_return op.failure();
}

/// The leaves write piece after piece into their places and run ahead; the root combines each piece in rank order.
Co reduce_large(Op& op, const Call& call, Visit visit) {
  const Pieces pieces = Pieces::of(op, call);
  const bool root = op.rank() == call.root;
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const MPI_Count bytes = pieces.bytes_at(at);
    SlotWait slot(op, visit);
    st = co_await slot;
    if (slot.failed()) co_return st;
    contribute_piece(op, call, visit, at, bytes);
    if (!root) {
      wake_sleepers(op, visit);
    } else {
      LineWait wait = LineWait::contributions(op, visit);
      st = co_await wait;
      if (wait.failed()) co_return st;
      combine_items(op, call, visit, 0, bytes / call.send.type->size(), static_cast<std::byte*>(call.recv.data) + at);
    }
    done(op, visit);
    ++visit.number;
  }
  co_return op.failure();
}

/// Every rank writes its piece. Flat: when all have, each combines its slice into the common result, and when all have
/// done that, everyone copies the result: a reduce-scatter and an allgather through shared memory, as in S. Li, T.
/// Hoefler, M. Snir, "NUMA-aware shared-memory collective communication for MPI", HPDC 2013. Central: the last one to
/// arrive combines the whole piece while the others go on to the next, so each rank is scheduled once per piece.
Co allreduce_large(Op& op, const Call& call, Visit visit) {
  const Pieces pieces = Pieces::of(op, call);
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const MPI_Count bytes = pieces.bytes_at(at);
    const MPI_Count items = bytes / call.send.type->size();
    SlotWait slot(op, visit);
    st = co_await slot;
    if (slot.failed()) co_return st;
    std::byte* const result = visit.layout().large_result(visit.number);
    contribute_piece(op, call, visit, at, bytes);
    if (visit.group->flat) {
      wake_sleepers(op, visit);
      LineWait contributed = LineWait::contributions(op, visit);
      st = co_await contributed;
      if (contributed.failed()) co_return st;
      const Slice slice(op, items);
      if (slice.count > 0)
        combine_items(op, call, visit, slice.at, slice.count, result + slice.at * call.send.type->size());
      if (last_to_arrive(op, visit)) publish(op, visit);
    } else if (last_to_arrive(op, visit)) {
      const bool alike = all_alike(visit);
      if (alike) combine_items(op, call, visit, 0, items, result);
      publish_for_all(op, visit, alike);
    }
    LineWait wait = LineWait::result(op, visit);
    st = co_await wait;
    if (wait.failed()) co_return st;
    op.copy_bytes(result, static_cast<std::byte*>(call.recv.data) + at, bytes);
    all_met(visit);
    done(op, visit);
    ++visit.number;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

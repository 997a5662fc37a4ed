#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/pieces.h"

namespace ashlar::coll::shm {
namespace {

/// This rank's share of a piece whose items are dealt to all ranks.
struct Share {
  MPI_Count at, count;  // items
  Share(const Op& op, MPI_Count items)
      : at(items * op.rank() / op.size()), count(items * (op.rank() + 1) / op.size() - at) {}
};

/// Items [at, at + count) of the ranks' pieces, which always lie in bounce buffers.
void combine_items(Op& op, const Call& call, const Ticket& ticket, MPI_Count at, MPI_Count count, std::byte* to) {
  combine_payloads(op, call, ticket, static_cast<MPI_Count>(kInline) + 1, at, count, to);
}

void write_piece(Op& op, const Call& call, const Ticket& ticket, MPI_Count at, MPI_Count bytes) {
  op.copy_bytes(static_cast<const std::byte*>(call.send.data) + at, ticket.buffer(ticket.me()), bytes);
  publish(ticket);
}

}  // namespace

Need large_need(const Op& op, const Call& call) {
  const auto pieces = static_cast<std::uint64_t>(Pieces::of(op, call).count());
  return Need{.payloads = {.own = static_cast<MPI_Count>(kInline) + 1}, .numbers = pieces > 0 ? pieces : 1};
}

/// The root writes piece after piece and runs ahead of the readers by as many as there are buffers; each reader copies
/// out. R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co bcast_large(Op& op, const Call& call, Ticket ticket) {
  const Pieces pieces = Pieces::of(op, call);
  const bool root = op.rank() == call.root;
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const auto bytes = static_cast<std::size_t>(pieces.bytes_at(at));
    SlotWait slot(ticket);
    st = co_await slot;
    if (slot.failed()) co_return st;
    std::byte* const piece = ticket.result_buffer();
    if (root) {
      datatype::pack(call.recv, static_cast<std::size_t>(at), piece, bytes);
      publish_result_and_wake(ticket);
    } else {
      FlagWait wait = FlagWait::result_from(ticket, call.root);
      st = co_await wait;
      if (wait.failed()) co_return st;
      datatype::unpack(call.recv, static_cast<std::size_t>(at), piece, bytes);
    }
    done(ticket);
    ++ticket.number;
  }
  co_return op.failure();
}

/// The leaves write piece after piece and run ahead; the root combines each piece in rank order.
Co reduce_large(Op& op, const Call& call, Ticket ticket) {
  const Pieces pieces = Pieces::of(op, call);
  const bool root = op.rank() == call.root;
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const MPI_Count bytes = pieces.bytes_at(at);
    SlotWait slot(ticket);
    st = co_await slot;
    if (slot.failed()) co_return st;
    write_piece(op, call, ticket, at, bytes);
    if (!root) {
      wake_sleepers(ticket);
    } else {
      FlagWait wait = FlagWait::contributions(ticket);
      st = co_await wait;
      if (wait.failed()) co_return st;
      combine_items(op, call, ticket, 0, bytes / call.send.type->size(), static_cast<std::byte*>(call.recv.data) + at);
    }
    done(ticket);
    ++ticket.number;
  }
  co_return op.failure();
}

/// Every rank writes its piece. Flat: when all have, each combines its share into the common result, and when all have
/// done that, every rank copies the result: a reduce-scatter and an allgather through shared memory, as in S. Li, T.
/// Hoefler, M. Snir, "NUMA-aware shared-memory collective communication for MPI", HPDC 2013. Central: the last rank to
/// arrive combines the whole piece while the others go on to the next, so each rank is scheduled once per piece.
Co allreduce_large(Op& op, const Call& call, Ticket ticket) {
  const Pieces pieces = Pieces::of(op, call);
  Status st;
  for (MPI_Count at = 0; at < pieces.total; at += pieces.each) {
    const MPI_Count bytes = pieces.bytes_at(at);
    const MPI_Count items = bytes / call.send.type->size();
    SlotWait slot(ticket);
    st = co_await slot;
    if (slot.failed()) co_return st;
    std::byte* const result = ticket.result_buffer();
    write_piece(op, call, ticket, at, bytes);
    if (ticket.member->flat) {
      wake_sleepers(ticket);
      FlagWait contributed = FlagWait::contributions(ticket);
      st = co_await contributed;
      if (contributed.failed()) co_return st;
      const Share share(op, items);
      if (share.count > 0)
        combine_items(op, call, ticket, share.at, share.count, result + share.at * call.send.type->size());
      if (last_to_arrive(ticket)) publish_result_and_wake(ticket);
    } else if (last_to_arrive(ticket)) {
      const bool agree = flags_agree(ticket);
      if (agree) combine_items(op, call, ticket, 0, items, result);
      publish_result_for_all(ticket, agree);
    }
    FlagWait wait = FlagWait::result(ticket);
    st = co_await wait;
    if (wait.failed()) co_return st;
    op.copy_bytes(result, static_cast<std::byte*>(call.recv.data) + at, bytes);
    note_all_arrived(ticket);
    done(ticket);
    ++ticket.number;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

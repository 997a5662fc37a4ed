#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {
namespace {

/// Bytes that each rank leaves for the others.
MPI_Count shared_bytes(const Op& op, const Call& call) {
  if (call.what == Collective::kAlltoall) return call.recv.bytes() * op.size();
  return call.what == Collective::kAllgather ? call.recv.bytes() : call.bytes;
}

void write_own(Op& op, const Call& call, const Ticket& ticket, MPI_Count bytes) {
  const DataView payload = Op::view(ticket.payload(ticket.me(), bytes), bytes);
  if (call.what == Collective::kAllgather) {
    op.copy(call.in_place ? call.recv_block(op.rank()) : call.send, payload);
  } else if (call.what == Collective::kAlltoall) {
    DataView all = call.in_place ? call.recv : call.send;
    all.count *= op.size();
    op.copy(all, payload);
  } else {
    op.copy_bytes(call.send.data, payload.data, bytes);
  }
}

void read_own(Op& op, const Call& call, const Ticket& ticket, MPI_Count bytes) {
  switch (call.what) {
    case Collective::kAllgather:
      for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
        if (r == ticket.me() && call.in_place) continue;
        op.copy(Op::view(ticket.payload(r, bytes), bytes), call.recv_block(static_cast<Rank>(r)));
      }
      return;
    case Collective::kAlltoall: {
      const MPI_Count block = call.recv.bytes();
      for (std::uint32_t r = 0; r < ticket.ranks(); ++r)
        op.copy(Op::view(ticket.payload(r, bytes) + block * ticket.me(), block), call.recv_block(static_cast<Rank>(r)));
      return;
    }
    default: {  // reduce_scatter(_block)
      MPI_Count at = 0;
      for (Rank r = 0; r < op.rank(); ++r) at += call.piece(r);
      if (call.recv.count > 0) combine_payloads(op, call, ticket, bytes, at, call.recv.count, call.recv.data);
      return;
    }
  }
}

}  // namespace

Need share_need(const Op& op, const Call& call) {
  const MPI_Count bytes = shared_bytes(op, call);
  return Need{.payloads = {.own = bytes, .any = bytes}};
}

/// Every rank leaves its data in the segment, and takes what it needs of the others': allgather, alltoall,
/// reduce_scatter(_block). After the message buffers of R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co share(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const MPI_Count bytes = shared_bytes(op, call);
  write_own(op, call, ticket, bytes);
  publish(ticket);
  arrive(ticket);
  FlagWait wait = FlagWait::all_arrived(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  read_own(op, call, ticket, bytes);
  note_all_arrived(ticket);
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

#pragma once
#include "components/coll/shm/comm.h"
#include "components/coll/shm/segment/waits.h"

namespace ashlar::coll::shm {

/// Copies this rank's operand (a dense one) into the segment.
inline void write_operand(Op& op, const Call& call, const Ticket& ticket) {
  op.copy_bytes(call.send.data, ticket.payload(ticket.me(), call.bytes), call.bytes);
}

/// a0 op (a1 op (... a[n-1])) of items [at, at + count) of the ranks' payloads of `bytes` each, into `to`, a dense
/// buffer. In rank order, so any operation may be used, and every rank that does it gets the same bits.
inline void combine_payloads(Op& op, const Call& call, const Ticket& ticket, MPI_Count bytes, MPI_Count at,
                             MPI_Count count, void* to) {
  const MPI_Count offset = at * call.send.type->size();
  const std::uint32_t last = ticket.ranks() - 1;  // at least 1
  op.combine(call, ticket.payload(last - 1, bytes) + offset, ticket.payload(last, bytes) + offset, to, count);
  for (std::uint32_t r = last - 1; r-- > 0;) op.combine(call, ticket.payload(r, bytes) + offset, to, count);
}
/// The whole operands.
inline void combine_operands(Op& op, const Call& call, const Ticket& ticket, void* to) {
  combine_payloads(op, call, ticket, call.bytes, 0, call.send.count, to);
}

}  // namespace ashlar::coll::shm

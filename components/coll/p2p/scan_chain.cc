#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

/// One side of the double buffering: where a segment arrives, and where the sum that goes on is made.
struct Stage {
  std::byte* arriving;
  std::byte* leaving;
};

Co chain(Op& op, const Call& call, bool exclusive, MPI_Count bytes) {
  const int size = op.size();
  const int me = op.rank();
  const MPI_Count count = call.send.count;
  Datatype& type = *call.send.type;
  const MPI_Count extent = type.extent();
  const MPI_Count items = type.size() == 0 || bytes <= type.size() ? 1 : bytes / type.size();
  const bool first = me == 0;
  const bool last = me == size - 1;
  auto* const own = static_cast<std::byte*>(call.send.data);
  auto* const result = static_cast<std::byte*>(call.recv.data);
  const MPI_Count piece = items < count ? items : count;
  Stage now{nullptr, nullptr}, next{nullptr, nullptr};
  if (!first) {
    now.arriving = op.scratch_items(piece, type);
    next.arriving = op.scratch_items(piece, type);
    if (exclusive && !last) {
      now.leaving = op.scratch_items(piece, type);
      next.leaving = op.scratch_items(piece, type);
    }
  }
  Status st;
  Gate arriving, following, leaving;
  if (!first && piece > 0) op.recv(me - 1, DataView{now.arriving, piece, &type}, arriving);
  for (MPI_Count at = 0; at < count; at += items) {
    const MPI_Count here = count - at < items ? count - at : items;
    const MPI_Count after = at + here;
    const MPI_Count there = count - after < items ? count - after : items;
    if (!first && there > 0) op.recv(me - 1, DataView{next.arriving, there, &type}, following);
    st = co_await arriving;
    if (!st.ok()) break;
    std::byte* out = own + at * extent;
    if (!first && exclusive) {
      if (!last) op.combine(call, now.arriving, out, now.leaving, here);
      out = now.leaving;
      op.copy_items(now.arriving, result + at * extent, here, type);
    } else if (!first) {
      op.combine(call, now.arriving, out, result + at * extent, here);
      out = result + at * extent;
    }
    // One segment is on its way out at a time: the next rank is as fast as we are.
    st = co_await leaving;
    if (!st.ok()) break;
    if (!last) op.send(me + 1, DataView{out, here, &type}, leaving);
    if (!first && there > 0) {
      st = co_await following;
      if (!st.ok()) break;
      const Stage other = now;
      now = next;
      next = other;
    }
  }
  st = co_await following;
  st = co_await arriving;
  st = co_await leaving;
  if (first && !exclusive) op.copy_items(own, result, count, type);
  co_return st;
}

MPI_Count segment_of(const Op& op) { return op.arguments().segment > 0 ? op.arguments().segment : 64 * 1024; }

}  // namespace

/// Pipelined chain: each rank adds its operand to what comes from the one before, and hands it on. The textbook
/// definition of MPI_Scan, in segments as J. Worringen, "Pipelining and overlapping for MPI collective operations",
/// LCN 2003. s segments: n - 2 + s rounds, (n - 1) s messages, (n - 1) m bytes: the least possible. Each prefix is
/// ((a0 op a1) op a2) ..., so any operation may be used. Argument: segment (bytes, 64 KiB).
Co scan_chain(Op& op, const Call& call) { return chain(op, call, false, segment_of(op)); }
Co exscan_chain(Op& op, const Call& call) { return chain(op, call, true, segment_of(op)); }
/// In one piece.
Co scan_linear(Op& op, const Call& call) { return chain(op, call, false, INT64_MAX); }
Co exscan_linear(Op& op, const Call& call) { return chain(op, call, true, INT64_MAX); }

}  // namespace ashlar::coll::p2p

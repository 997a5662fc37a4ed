#pragma once
#include <initializer_list>

#include "components/coll/hier/nodes.h"

namespace ashlar::coll::hier {

/// Calls of parts: what a hierarchical algorithm runs inside a node and among the leaders.
inline Call part_call(Collective what, Rank root, MPI_Count bytes) {
  Call call;
  call.what = what;
  call.root = root;
  call.bytes = bytes;
  return call;
}
inline Call bcast_call(const DataView& data, Rank root) {
  Call call = part_call(Collective::kBcast, root, data.bytes());
  call.recv = data;
  return call;
}
/// A part of a reduction, with the operation of the whole.
inline Call reduce_call(const Call& whole, Collective what, const DataView& operand, void* result, Rank root) {
  Call call = part_call(what, root, operand.bytes());
  call.op = whole.op;
  call.send = operand;
  if (result != nullptr) call.recv = DataView{result, operand.count, operand.type};
  return call;
}
/// With the count and type of the whole as well.
inline Call reduce_call(const Call& whole, Collective what, const void* operand, void* result, Rank root) {
  return reduce_call(whole, what, DataView::of(operand, whole.send.count, *whole.send.type), result, root);
}

/// A part's blocks of `bytes` each, packed.
inline Call gather_call(std::byte* from, std::byte* to, MPI_Count bytes, Rank root) {
  Call call = part_call(Collective::kGather, root, bytes);
  call.send = Op::view(from, bytes);
  if (to != nullptr) call.recv = Op::view(to, bytes);
  return call;
}
inline Call scatter_call(std::byte* from, std::byte* to, MPI_Count bytes, Rank root) {
  Call call = part_call(Collective::kScatter, root, bytes);
  if (from != nullptr) call.send = Op::view(from, bytes);
  call.recv = Op::view(to, bytes);
  return call;
}

/// The parts of this call inside the nodes will be these.
inline void announce(Op& op, const Call& call, Op& inside, Nodes& nodes, std::initializer_list<const Call*> parts) {
  if (nodes.my_ranks() > 1) count_parts(op, call, inside, nodes.inside(), {parts.begin(), parts.size()});
}
/// This rank has failed before that part inside its node. Returns why.
inline Status leave(Op& op, const Call& call, Op& inside, Nodes& nodes, const Call& part, Status why) {
  if (nodes.my_ranks() > 1) leave_part(op, call, inside, nodes.inside(), part);
  return why;
}

}  // namespace ashlar::coll::hier

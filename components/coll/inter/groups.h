#pragma once
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/coll/part.h"

namespace ashlar::coll::inter {

/// The two groups of an intercommunicator, as one rank sees them. Kept in the slot of this component.
struct Groups {
  Wire* own;          // among the ranks of the own group
  CommState* inside;  // whose rules choose for the parts there
  int remote;         // ranks of the other group

  /// Those of op's communicator; nullptr: no memory, noted as op's failure.
  static const Groups* of(Op& op);
};

inline Call bcast_from_first(const DataView& data) {
  Call call;
  call.what = Collective::kBcast;
  call.root = 0;
  call.recv = data;
  call.bytes = data.bytes();
  return call;
}

/// The vectors of the own group to its rank 0, which has `into`.
inline Call reduce_to_first(const Call& whole, void* into) {
  Call call;
  call.what = Collective::kReduce;
  call.root = 0;
  call.op = whole.op;
  call.send = whole.send;
  if (into != nullptr) call.recv = DataView{into, whole.send.count, whole.send.type};
  call.bytes = whole.send.bytes();
  return call;
}

}  // namespace ashlar::coll::inter

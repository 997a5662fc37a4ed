#pragma once
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/coll/part.h"

namespace ashlar::coll::inter {

inline CommState& own_group(const Op& op) { return *op.comm()->own_group; }

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

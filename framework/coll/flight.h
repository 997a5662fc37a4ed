#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "framework/base/status.h"
#include "framework/coll/block.h"
#include "framework/coll/call.h"
#include "framework/coll/check.h"
#include "framework/coll/co.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/progress/request.h"

namespace ashlar::coll {

/// A collective in flight behind a request: the operation, its call and its block in one piece of storage, from the
/// slab of its lane, whose lock guards it. run() may be called again in the same block once the operation is over: a
/// persistent start.
class Flight final : public Request {
 public:
  static constexpr std::size_t kBlockBytes = 1536;  // frames of the usual algorithms and small temporaries

  Flight(CommState& state, const Call& call, const Choice& choice, Tag sequence, CallForm form);
  ~Flight();

  /// Starts the algorithm. Afterwards it is complete, or the progress loop completes it. Fails only when nothing was
  /// started.
  Status run();
  Tag sequence() const { return op_.tag(); }

 private:
  Co begin();
  void tell_over(Status with) const;
  struct Over : Waiter {
    Flight* flight;
  };
  static void over(Waiter& self);
  static Status start(Request& self);
  static void release(Request& self);
  static void describe(const Request& self, char* out, std::size_t room);
  static const RequestOps kOps, kPersistentOps;
  struct Lengths;
  void keep_types();
  void keep_arrays();

  // What the user may free while the collective is pending; empty for predefined objects.
  Ref<Comm> comm_;
  Ref<Datatype> send_type_, recv_type_;
  Ref<ReduceOp> reduce_op_;
  Call call_;
  std::uint32_t starts_ = 0;  // of a persistent collective
  const Choice choice_;
  Co co_;
  Gate finished_;
  Over over_;
  alignas(64) std::byte memory_[kBlockBytes];
  Block block_;
  Op op_;
  Slot own_slot_;
  std::unique_ptr<Ref<Datatype>[]> types_;  // of the w-forms, one for each block
  std::unique_ptr<std::byte[]> arrays_;     // copies of the caller's arrays
};

}  // namespace ashlar::coll

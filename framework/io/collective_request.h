#pragma once
#include <cstddef>

#include "framework/coll/block.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/io/together.h"
#include "framework/progress/request.h"

namespace ashlar::io {

/// The tag of the messages between hosts (far.cc); no collective of the communicator has this number.
inline constexpr Tag kMessages = coll::Op::kPartTag - 1;

/// A nonblocking collective access: the operation and its memory in one piece.
class CollectiveRequest final : public Request {
 public:
  static constexpr std::size_t kBlockBytes = 4096;  // the frames of its coroutines

  CollectiveRequest(coll::CommState& of, const char* call, const Transfer& what, Status own);
  /// Under the lane's lock.
  Status run();
  /// Of an access in the order of the ranks: whether it has moved the shared pointer.
  bool placed() const { return access_.placed; }

 private:
  struct Over : Waiter {
    CollectiveRequest* request;
  };
  static void over(Waiter& self);
  static void release(Request& self);
  static void describe(const Request& self, char* out, std::size_t room);
  void end(Status with);
  static const RequestOps kOps;

  Ref<Comm> owner_;  // dropped last: the block belongs to the communicator's state
  Ref<Datatype> type_;
  Together access_;
  CountedRequest counted_;
  Gate finished_;
  Over over_;
  coll::Co co_;
  alignas(64) std::byte memory_[kBlockBytes];
  coll::Block block_;
  coll::Op op_;
};

}  // namespace ashlar::io

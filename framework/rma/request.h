#pragma once
#include <cstdint>

#include "framework/progress/gate.h"
#include "framework/progress/request.h"
#include "framework/rma/way.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

/// The request of MPI_Rput and its kin: complete when the operation is, at the origin. Operations that are complete
/// when their call returns have none of their own: they get one that is always complete.
struct RmaRequest : Request, Waiter {
  RmaRequest(const RequestOps& ops, RmaWindow& of, const char* name, Rank rank);

  Ref<Comm> owner;  // keeps the lane; the window may not be freed before the operation is complete
  const char* const call;
  const Rank target;
  Gate pending;  // Request::gate is for operations of the library's own
};

/// Gives out a request that is complete.
Status complete_request(RmaWindow& window, Request** out);

Status take_request(RmaWindow& window, const char* call, Rank target, RmaRequest** out);
/// The operation has been started with `request.pending`; with `started` a failure, the request goes back.
Status give_out(RmaWindow& window, RmaRequest& request, Status started, Request** out);

/// Starts an operation of this way with a gate, and gives out the request of it.
template <class Start>
Status with_request(const char* call, RmaWindow& window, const Target& target, const Way* way, Request** out,
                    Start start) {
  if (way->flush == nullptr) [[likely]] {  // complete when it returns
    ASHLAR_TRY(start(nullptr));
    return complete_request(window, out);
  }
  RmaRequest* request = nullptr;
  ASHLAR_TRY(take_request(window, call, target.rank, &request));
  return give_out(window, *request, start(&request->pending), out);
}

}  // namespace ashlar::rma

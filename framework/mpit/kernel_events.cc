#include "framework/base/event.h"
#include "framework/base/pool_events.h"
#include "framework/coll/events.h"
#include "framework/comm/events.h"
#include "framework/object/events.h"
#include "framework/p2p/events.h"
#include "framework/progress/events.h"
#include "framework/runtime/events.h"

namespace ashlar::event {

std::span<Type* const> kernel_types() {
  static Type* const kTypes[] = {
      &p2p::message_unexpected,
      &p2p::message_matched,
      &p2p::rendezvous_begin,
      &p2p::rendezvous_end,
      &p2p::link_throttled,
      &progress::peer_failed,
      &runtime::transport_chosen,
      &runtime::query_answered,
      &coll::collective_begin,
      &coll::collective_end,
      &comm::comm_made,
      &comm::comm_freed,
      &comm::comm_named,
      &handler_called,
      &pool_grown,
      &pool_limit_met,
      &runtime::stall_seen,
  };
  return kTypes;
}

}  // namespace ashlar::event

#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/slab.h"
#include "framework/match/queues.h"
#include "framework/object/comm.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/config.h"
#include "framework/p2p/flush_request.h"
#include "framework/p2p/generalized.h"
#include "framework/p2p/kept_offers.h"
#include "framework/p2p/message.h"
#include "framework/p2p/native.h"
#include "framework/p2p/operation.h"
#include "framework/p2p/paired.h"
#include "framework/p2p/partitioned.h"
#include "framework/p2p/process_state.h"
#include "framework/p2p/pvars.h"
#include "framework/p2p/recall.h"
#include "framework/p2p/route_table.h"
#include "framework/p2p/send_buffer.h"
#include "framework/p2p/shared_post.h"
#include "framework/p2p/signature_check.h"
#include "framework/p2p/window_hooks.h"

namespace ashlar::p2p {

/// An answer or a word about the link that found no room.
struct Control : Pending {
  static constexpr std::size_t kMost = 48;
  std::uint8_t id = 0;
  std::uint8_t length = 0;
  std::uint64_t h0 = 0, h1 = 0;
  std::byte data[kMost];
};

/// Point-to-point's part of a lane. Guarded by the lane's lock.
struct LaneState {
  LaneState(Lane& lane, const Config& configuration, ProcessState& of_process);

  match::PostedQueue posted;
  match::UnexpectedQueue unexpected;
  Unpaired unpaired;
  Slab<RecvRequest> receives{PoolName::kReceives};
  Slab<SendRequest> sends{PoolName::kSends};
  Config config;  // changed by configure() alone
  ProcessState& process;

  SharedPosts posts;
  PostWriter post_writer;
  CancelWatch cancels;

  bool throttle_recorded = false;                // limits.h
  const CollectiveHooks* collectives = nullptr;  // set with the first collective
  const WindowHooks* windows = nullptr;          // set while there are windows

  SentRequests sent_requests;
  /// Complete requests that are given out again and again: for what needs no request of its own, and for what goes to
  /// or comes from MPI_PROC_NULL. Never released.
  Request* sent = nullptr;
  Request* nothing_received = nullptr;

  std::unique_ptr<SignatureCheck> check;   // with check.datatypes
  std::unique_ptr<NativeMatching> native;  // where a network matches messages

  Slab<Pull> pulls{PoolName::kPulls};
  Slab<Control> controls{PoolName::kControls};
  Slab<Arrival> arrivals{PoolName::kArrivals};
  Slab<MessageObject> messages{PoolName::kMessages};
  Slab<Request> constants;
  // Each kind of request has the limit p2p.request_limit of its own.
  Slab<PairRequest> pairs{PoolName::kPairs};
  Slab<GeneralizedRequest> generalized{PoolName::kGeneralized};
  Slab<FlushRequest> flushes{PoolName::kFlushes};
  Slab<PartSend> part_sends{PoolName::kPartSends};
  Slab<PartRecv> part_receives{PoolName::kPartReceives};
  std::uint64_t part_serial = 0;                       // the last that was given to a PartSend
  Slab<KeptOffer> kept_offers{PoolName::kKeptOffers};  // as many as there may be requests of one kind
  Slab<KeptOffer> refused_offers;                      // envelopes whose first offers were refused; as many
  Comm nowhere;  // the communicator of requests that belong to none: leads to the lane, never fails
  std::unique_ptr<RouteTable> routes;  // of the first of several lanes

  Counters counters;

  /// Gives every pool of requests the limit p2p.request_limit.
  void limit_requests();
};

/// Why `requests` has none left: its limit, or memory.
template <class T>
Status no_request(const Slab<T>& requests) {
  if (requests.out() < requests.limit()) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a request"}});
  return fail(MPI_ERR_NO_MEM, "request.limit", {{"count", requests.out()}});
}

}  // namespace ashlar::p2p

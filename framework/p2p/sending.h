#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/datatype/data_view.h"
#include "framework/p2p/eager_limit.h"
#include "framework/p2p/operation.h"

/// The path of a message that the short path (send_now.h) did not take. All forms of sending share it: the link is
/// opened once, the protocol is chosen once, and one function per protocol gives the message to the endpoint.
namespace ashlar::p2p {

class NativeMatching;

/// A message to be sent: the arguments of a call. Borrows all that it refers to.
struct Sending {
  Comm& comm;
  DataView data;
  Rank to;
  Tag tag;
  Procedure call;
  SendMode mode = SendMode::kStandard;
  std::uint32_t name = 0;           // of the request by which it may be recalled once it has left; 0: there is none
  CallSignature called = {};        // of a collective's message
  BufferedMessage* kept = nullptr;  // of a buffered send: where it is packed if it cannot leave at once

  bool collective() const { return call == Procedure::kCollective; }
  std::uint64_t envelope() const {  // h0 of the message
    return match::Key::place(comm.context + (collective() ? 1u : 0u), comm.rank);
  }
};

/// How a message of `bytes` on `comm` travels over `link`. The choice can change only while the message waits for room:
/// when the peer throttles the link meanwhile, the message asks first, too.
inline Protocol choose_protocol(const Link& link, const Comm& comm, MPI_Count bytes) {
  return bytes <= eager_limit(link, comm) && !link.throttled ? Protocol::kEager : Protocol::kRendezvous;
}

/// What the network matches the message for; nullptr: the kernel does. Then only standard messages travel whole, and no
/// more of them than the receiver may have to keep.
NativeMatching* native_for(const Link& link, const Comm& comm, std::uint32_t context);

/// Sends `message`. `*out` is its request, active or complete, which the caller owns (a buffered send's releases itself
/// unless it is held); nullptr when the message has left without one. A returned failure is immediate.
Status start_send(Lane& lane, const Sending& message, SendRequest** out) ASHLAR_REQUIRES(lane.lock);

/// The same for an inactive persistent request, which becomes active.
Status start_again(Lane& lane, SendRequest& r) ASHLAR_REQUIRES(lane.lock);

/// Sends `message` on behalf of `gate`, and counts it there when it has not left at once.
Status start_send_on_gate(Lane& lane, const Sending& message, Gate& gate) ASHLAR_REQUIRES(lane.lock);

/// Ends a send: it leaves all lists, and the peer can no longer read its memory.
void finish_send(SendRequest& r, Status outcome);

}  // namespace ashlar::p2p

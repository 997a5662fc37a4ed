#pragma once
#include "framework/base/event.h"
#include "framework/base/status.h"
#include "framework/p2p/operation.h"

/// What point-to-point tells tools (docs/tools.md). Types, and the sites that several files share.
namespace ashlar::p2p {

extern constinit event::Type message_unexpected, rendezvous_begin, rendezvous_end, link_throttled;
/// Not seen by other libraries, so that the site of each receive needs no address to be loaded.
[[gnu::visibility("hidden")]] extern constinit event::Type message_matched;

/// How a message with an RTS came; kNot: it did not.
enum class Received : std::uint8_t { kSingleCopy, kFragments, kWritten, kNothing, kNot };

/// Raise the events of a rendezvous, if a tool listens. `r` of a sender: its RTS has left; of a receiver: it has taken
/// an RTS, whose bytes are r.bytes.
[[gnu::cold]] void tell_begin(const Operation& r, MPI_Count bytes, bool sends);
[[gnu::cold]] void tell_end(const SendRequest& r, Status outcome);
[[gnu::cold]] void tell_end(const RecvRequest& r, Received how, Status outcome);

inline void begin_rendezvous(SendRequest& r) {
  r.asked = true;
  if (event::heard(rendezvous_begin)) [[unlikely]]
    tell_begin(r, r.size, true);
}
inline void begin_rendezvous(const RecvRequest& r) {
  if (event::heard(rendezvous_begin)) [[unlikely]]
    tell_begin(r, r.bytes, false);
}
inline void end_rendezvous(SendRequest& r, Status outcome) {
  r.asked = false;
  if (event::heard(rendezvous_end)) [[unlikely]]
    tell_end(r, outcome);
}
inline void end_rendezvous(const RecvRequest& r, Received how, Status outcome) {
  if (event::heard(rendezvous_end)) [[unlikely]]
    tell_end(r, how, outcome);
}

}  // namespace ashlar::p2p

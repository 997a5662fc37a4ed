#pragma once
#include <cstdint>

#include "framework/base/slab.h"
#include "framework/p2p/operation.h"
#include "framework/progress/lane.h"

/// Offered receives: a large message arrives while its receiver computes. A nonblocking receive that is posted shows
/// its memory to the one process that can send the message; that process announces the message as ever, and when no
/// answer comes it writes the message there itself. Matching is not touched: the announcement lies in order among the
/// other messages, the receiver matches it when it next calls, takes its memory back, and goes on from what it finds
/// there.
///
/// Why the sender cannot write the wrong message: a receive of one source and one tag, with none before it that a
/// wildcard lets compete, takes the message that comes after as many others of its context, source and tag as there are
/// such receives posted before it. The receiver tells that number and how far it has come among the sender's messages;
/// the sender counts (ashlar_offer). Only a receive cancelled between would falsify the number: see `spoken_for`.
namespace ashlar::p2p {

struct Config;
struct LaneState;

// --- the receiver ---
/// The receive that was offered last. When the next one follows on it, the receives ahead need not be counted again.
struct LastOffer {
  match::Key key = {};
  std::uint64_t stamp = 0;
  std::size_t posted = 0;  // receives of any key, right after it was posted
  std::size_t ahead = 0;
};

/// Offers `r`, which was just posted, to its source if that is possible. Never fails: without an offer all is as ever.
void offer(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock);
/// Takes the memory of `r`, which is offered, back; `r.received` is then what the sender has written. False: it is
/// writing at this moment, and says kStopped when it has stopped.
bool take_back(LaneState& state, RecvRequest& r);
/// The same for a receive that is over, whatever its sender does.
void end_offer(LaneState& state, RecvRequest& r);
/// Whether a message is certain to come for `r`, which is posted and to be cancelled: its sender, or that of a later
/// receive of the same key, has begun to write. Else neither is offered any more, for the later ones' numbers are wrong
/// without this one.
bool spoken_for(LaneState& state, RecvRequest& r);
void on_stopped(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

// --- the sender ---
/// An announced message without an answer.
struct Claim : ListHook {
  explicit Claim(SendRequest& r) : request(&r) {}
  SendRequest* request;
  std::uint64_t since = 0;    // it waits so long for an answer to anything; 0: from the next look at the clock
  std::uint32_t answers = 0;  // Link::answers at that time
  ashlar_claim place = {};
};

/// The announced messages of a lane for which offers are looked for, oldest first, and the one that is being written.
class Claims : public Poller {
 public:
  explicit Claims(Lane& lane, const Config& config);
  /// `r` has been announced.
  void watch(SendRequest& r);
  /// It is answered, or over.
  void forget(SendRequest& r);

 private:
  bool look();
  bool write();

  Lane& lane_;
  const std::uint64_t patience_;
  bool polled_ = false;  // in the lane's list
  unsigned rounds_ = 0;
  List<Claim> waiting_;
  Claim* writing_ = nullptr;
  std::uint64_t next_look_ = 0;
  std::uint64_t nap_ = 0;  // how long a wait may sleep after a look in vain
  Slab<Claim> memory_;
};

}  // namespace ashlar::p2p

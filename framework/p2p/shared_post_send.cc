#include <algorithm>

#include "framework/base/clock.h"
#include "framework/p2p/offered.h"
#include "framework/p2p/sending.h"
#include "framework/p2p/state.h"

namespace ashlar::p2p {
namespace {

// Written at a time: others get the lane's lock, and the receiver its memory, after so much.
constexpr std::uint64_t kPiece = 256 << 10;

// Messages that are looked for at a time. A process that has announced more than these has other worries.
constexpr unsigned kMostLooks = 128;

// A receiver that makes an offer wakes the sender that has looked for one. Sleeps are shorter all the same at first,
// because a look that is not due yet when the lane is armed is left out.
constexpr std::uint64_t kFirstNap = 20'000, kLongestNap = 50'000'000;

// The clock is not looked at in every round, but before a sleep.
constexpr unsigned kRounds = 4;

constexpr std::uint32_t kMatchable = 1u << kEager | 1u << kEagerSync | 1u << kRts | 1u << kEagerReady | 1u << kRtsReady;

}  // namespace

Claims::Claims(Lane& lane, const Config& config) : lane_(lane), patience_(config.offer_patience) {
  poll = [](Poller& self) { return static_cast<Claims&>(self).look(); };
}

void Claims::watch(SendRequest& r) ASHLAR_NO_THREAD_SAFETY {
  Claim* const claim = memory_.take(r);
  if (claim == nullptr) return;
  r.claim = claim;
  claim->answers = r.link->answers;
  waiting_.push_back(claim);
  nap_ = std::max(kFirstNap, patience_);
  if (lane_.look_again == 0) lane_.look_again = 1;  // a wait that sleeps at once makes another round
  if (polled_) return;
  polled_ = true;
  lane_.pollers.push_back(this);
}

void Claims::forget(SendRequest& r) {
  Claim* const claim = r.claim;
  r.claim = nullptr;
  if (claim == writing_) {
    writing_ = nullptr;
  } else {
    List<Claim>::remove(claim);
  }
  memory_.put(claim);
}

bool Claims::look() ASHLAR_NO_THREAD_SAFETY {
  if (writing_ != nullptr) return write();
  if (waiting_.empty()) {
    lane_.look_again = 0;
    polled_ = false;
    List<Poller>::remove(this);
    return false;
  }
  if (++rounds_ % kRounds != 0 && lane_.armed == 0) return false;
  const std::uint64_t now = now_ns();
  if (now < next_look_) return false;
  std::uint64_t earliest = now + kLongestNap;
  unsigned looks = 0;
  for (Claim& claim : waiting_) {
    if (++looks > kMostLooks) break;
    SendRequest& r = *claim.request;
    Link& link = *r.link;
    if (claim.since == 0 || claim.answers != link.answers) {
      claim.since = now;
      claim.answers = link.answers;
    }
    if (now - claim.since < patience_) {
      earliest = std::min(earliest, claim.since + patience_);
      continue;
    }
    const ashlar_sent sent{match::Key::place(r.context(), r.comm->rank),
                           tag_word(r.tag, r.name()),
                           ~std::uint64_t{0} << 32,
                           kMatchable,
                           r.mode == SendMode::kReady ? kRtsReady : kRts,
                           static_cast<std::uint64_t>(r.size)};
    if (link.endpoint->ops->claim(link.endpoint, &sent, &claim.place) != ASHLAR_OK) continue;
    List<Claim>::remove(&claim);
    writing_ = &claim;
    return write();
  }
  next_look_ = now + patience_;
  lane_.look_again = std::min(earliest, now + nap_);
  nap_ = std::min(2 * nap_, kLongestNap);
  return false;
}

/// One piece. What the receiver has taken back, or could not be written, goes the ordinary way: it was announced.
bool Claims::write() ASHLAR_NO_THREAD_SAFETY {
  Claim& claim = *writing_;
  SendRequest& r = *claim.request;
  Link& link = *r.link;
  const ashlar_result result =
      link.endpoint->ops->deposit(link.endpoint, &claim.place, r.data.data, static_cast<std::uint64_t>(r.size), kPiece);
  if (result == ASHLAR_OK || result == ASHLAR_PENDING) r.matched = true;
  const bool asked = claim.place.asked != 0;
  if (asked)
    send_control(lane_, link, kStopped, pair_word(static_cast<std::uint32_t>(claim.place.token), r.name()),
                 claim.place.number);
  if (result == ASHLAR_PENDING && !asked) return true;
  forget(r);
  next_look_ = 0;
  if (result != ASHLAR_OK) return true;
  ++lane_.p2p->levels.deposits;
  finish_send(r, Status{});
  return true;
}

}  // namespace ashlar::p2p

#include <algorithm>

#include "framework/base/clock.h"
#include "framework/p2p/config.h"
#include "framework/p2p/links.h"
#include "framework/p2p/sending.h"
#include "framework/p2p/shared_post.h"

namespace ashlar::p2p {
namespace {

// Written at a time: others get the lane's lock, and the receiver its memory, after so much.
constexpr std::uint64_t kPiece = 256 << 10;

// Messages that are looked for at a time. A process with more unanswered ones than these has other worries.
constexpr unsigned kMostLooks = 128;

// A receiver that posts in shared memory wakes the sender that has looked. Sleeps are shorter all the same at first,
// because a look that is not due yet when the lane is armed is left out.
constexpr std::uint64_t kFirstNap = 20'000, kLongestNap = 50'000'000;

// The clock is not looked at in every round, but before a sleep.
constexpr unsigned kRounds = 4;

constexpr std::uint32_t kMatchable = 1u << kEager | 1u << kEagerSync | 1u << kRts | 1u << kEagerReady | 1u << kRtsReady;

}  // namespace

PostWriter::PostWriter(Lane& lane, const Config& config)
    : lane_(lane), config_(config), smallest_(smallest_shared_post(config)) {
  poll = [](Poller& self) { return static_cast<PostWriter&>(self).look(); };
}

void PostWriter::watch(SendRequest& r) ASHLAR_NO_THREAD_SAFETY {
  const ashlar_endpoint& endpoint = *r.link->endpoint;
  if (r.size < smallest_ || (endpoint.capabilities & ASHLAR_CAP_POST) == 0 || r.collective || !r.data.dense() ||
      static_cast<std::uint64_t>(r.size) < smallest_shared_post(config_, endpoint))
    return;
  UnansweredRts* const rts = memory_.take(r);
  if (rts == nullptr) return;
  r.unanswered = rts;
  rts->answers = r.link->answers;
  waiting_.push_back(rts);
  nap_ = std::max(kFirstNap, config_.shared_post_patience);
  if (lane_.look_again == 0) lane_.look_again = 1;  // a wait that sleeps at once makes another round
  if (polled_) return;
  polled_ = true;
  lane_.pollers.push_back(this);
}

void PostWriter::forget(SendRequest& r) {
  UnansweredRts* const rts = r.unanswered;
  r.unanswered = nullptr;
  if (rts == writing_) {
    writing_ = nullptr;
  } else {
    List<UnansweredRts>::remove(rts);
  }
  memory_.put(rts);
}

bool PostWriter::look() ASHLAR_NO_THREAD_SAFETY {
  if (writing_ != nullptr) return write();
  if (waiting_.empty()) {
    lane_.look_again = 0;
    polled_ = false;
    List<Poller>::remove(this);
    return false;
  }
  if (++rounds_ % kRounds != 0 && lane_.armed == 0) return false;
  const std::uint64_t now = now_ns(), patience = config_.shared_post_patience;
  if (now - last_look_ < patience) return false;  // by the patience of now, which a tool may have written
  std::uint64_t earliest = now + kLongestNap;
  unsigned looks = 0;
  for (UnansweredRts& rts : waiting_) {
    if (++looks > kMostLooks) break;
    SendRequest& r = *rts.request;
    Link& link = *r.link;
    if (rts.since == 0 || rts.answers != link.answers) {
      rts.since = now;
      rts.answers = link.answers;
    }
    if (now - rts.since < patience) {
      earliest = std::min(earliest, rts.since + patience);
      continue;
    }
    const ashlar_sent sent{.h0 = match::Key::place(r.context(), r.comm->rank),
                           .h1 = tag_word(r.tag, r.name()),
                           .length = static_cast<std::uint64_t>(r.size),
                           .ids = kMatchable,
                           .id = r.mode == SendMode::kReady ? kRtsReady : kRts};
    if (link.endpoint->ops->posts->find(link.endpoint, &sent, &rts.found) != ASHLAR_OK) continue;
    List<UnansweredRts>::remove(&rts);
    writing_ = &rts;
    return write();
  }
  last_look_ = now;
  lane_.look_again = std::min(earliest, now + nap_);
  nap_ = std::min(2 * nap_, kLongestNap);
  return false;
}

/// One piece. What the receiver has withdrawn, or could not be written, goes the ordinary way: its RTS has left.
bool PostWriter::write() ASHLAR_NO_THREAD_SAFETY {
  UnansweredRts& rts = *writing_;
  SendRequest& r = *rts.request;
  Link& link = *r.link;
  const ashlar_result result = link.endpoint->ops->posts->write(link.endpoint, &rts.found, r.data.data,
                                                                static_cast<std::uint64_t>(r.size), kPiece);
  if (result == ASHLAR_OK || result == ASHLAR_PENDING) r.matched = true;
  const bool asked = rts.found.asked != 0;
  if (asked)
    send_control(lane_, link, kStopped, pair_word(static_cast<std::uint32_t>(rts.found.token), r.name()),
                 rts.found.number);
  if (result == ASHLAR_PENDING && !asked) return true;
  forget(r);
  last_look_ = 0;
  if (result != ASHLAR_OK) return true;
  total_.add();
  bytes_.add(static_cast<std::uint64_t>(r.size));
  finish_send(r, Status{});
  return true;
}

}  // namespace ashlar::p2p

#include <algorithm>
#include <string>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/native.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/setup.h"

// Messages that are taken out of the network to be matched by the kernel, and whether some of them were lost.
namespace ashlar::p2p {
namespace {

constexpr std::uint64_t kToldEach = 64 << 10;  // weight of messages taken between two words about that
constexpr std::uint64_t kNap = 1'000'000;      // ns: what a network has of messages that met no receive ends no sleep
constexpr std::uint64_t kWatchEvery = 1'000'000'000;  // ns a receive waits before the peer is asked what it has sent
constexpr std::uint64_t kLostAfter = 5'000'000'000;   // ns that a message is missing which has arrived
constexpr std::uint32_t kSearches = 16;               // and rounds of claims that have not found it
constexpr std::uint32_t kNoContext = ~std::uint32_t{0};

}  // namespace

void NativeMatching::file_here() { file_here_ = again_ = true; }

void NativeMatching::sweep() { file_here(); }

bool NativeMatching::has_swept() {
  if (links_.empty() || std::exchange(swept_, false)) return true;
  if (!sweeping_) {
    sweeping_ = true;
    dropped_.push_back({{kNoContext, 0}});  // names no communicator: it marks the round
    sweep();
  }
  return false;
}

/// Whether something waits in the kernel's queues that a message of the network may be for.
bool NativeMatching::has_to_file() const ASHLAR_NO_THREAD_SAFETY {
  if (probes_ != 0 || !postponed_.empty() || !dropped_.empty() || held_) return true;
  LaneState& state = *lane_.p2p;
  bool found = false;
  if (state.posted.table().count() == 0) return false;
  state.posted.table().each([&](match::Entry& entry) {
    if (found) return;
    const auto& r = static_cast<const RecvRequest&>(entry);
    if (!carries(*r.comm, r.key.context())) return;
    const Rank source = r.key.source();
    if (source == MPI_ANY_SOURCE) {
      found = true;
    } else if (Peer* const peer = progress::peer_of(*r.comm, source)) {
      found = peer->link(lane_).native != nullptr;
    }
  });
  return found;
}

bool NativeMatching::look() ASHLAR_NO_THREAD_SAFETY {
  found_ = false;
  if (look_again_ != 0 && lane_.look_again == look_again_) lane_.look_again = 0;
  look_again_ = 0;
  if (posted_.empty() && !file_here_) return false;
  const std::uint64_t now = now_ns();
  if (now >= next_watch_) watch_for_loss(now);
  if (!file_here_) return false;
  if (!claim_.under_way && !held_) {
    again_ = false;
    for (auto& entry : postponed_) entry.begun = true;
    for (auto& entry : dropped_) entry.begun = true;
    while (claim()) {
    }
  }
  if (file_here_) {
    look_again_ = now + kNap;
    if (lane_.look_again == 0 || lane_.look_again > look_again_) lane_.look_again = look_again_;
  }
  return found_;
}

/// One claim of whatever there is. True: a message was taken at once, and there may be more.
bool NativeMatching::claim() ASHLAR_NO_THREAD_SAFETY {
  if (held_ || claim_.under_way) return false;
  claim_.under_way = true;
  const bool found_before = std::exchange(found_, false);
  const ashlar_result result = tags_.claim(&iface_, nullptr, 0, layout_.all(), &claim_);
  const bool taken = found_;
  found_ = found_ || found_before;
  if (result == ASHLAR_PENDING) return taken && !claim_.under_way;
  claim_.under_way = false;
  swept();
  return false;
}

void NativeMatching::claimed(const ashlar_tag_event& event) ASHLAR_NO_THREAD_SAFETY {
  claim_.under_way = false;
  if (event.result != ASHLAR_OK) return swept();
  found_ = true;
  lane_.p2p->counters.native_claimed.add();
  ashlar_am am = envelope_of(event);
  if (NativeLink* const link = link_of(event.peer)) count_taken(*link, event.length, am.id == kRts);
  // What comes next is claimed in the next round, and in this one where the transport tells at once.
  again_ = true;
  if (am.id != kRts) return deliver(am);
  const Name name = {am.peer, am.h0, am.h1};
  const auto found = announced_.find(name);
  if (found == announced_.end()) {
    // Nothing may pass it.
    held_ = true;
    held_name_ = name;
    return;
  }
  const KeptRts rts = found->second;
  announced_.erase(found);
  am.data = rts.data;
  am.length = rts.length;
  deliver(am);
}

void NativeMatching::deliver(const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  delivering_ = true;
  lane_.handlers[am.id](lane_, am);
  delivering_ = false;
}

/// Nothing is left that was there when this claim began.
void NativeMatching::swept() ASHLAR_NO_THREAD_SAFETY {
  for (const auto& link : links_) ++link->searched;
  decide_postponed();
  if (!again_) file_here_ = has_to_file();
}

void NativeMatching::decide_postponed() ASHLAR_NO_THREAD_SAFETY {
  while (!postponed_.empty() && postponed_.front().begun) {
    const ashlar_am am = postponed_.front().what;
    postponed_.pop_front();
    am.id == kCancel ? on_cancel(lane_, am) : on_recall(lane_, am);
  }
  while (!dropped_.empty() && dropped_.front().begun) {
    const auto [context, taken] = dropped_.front().what;
    dropped_.pop_front();
    if (context == kNoContext) {
      sweeping_ = false;
      swept_ = true;
    } else if (taken == lane_.p2p->process.contexts_taken.load(std::memory_order_relaxed)) {
      forget_messages(lane_, context);
    }
  }
}

bool NativeMatching::postpone(const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  if (link_of(am.peer) == nullptr || !layout_.fits(key_of(am).context())) return false;
  postponed_.push_back({am});
  sweep();
  return true;
}

void on_cancel_native(Lane& lane, const ashlar_am& am) {
  if (lane.p2p->native->postpone(am)) return;
  am.id == kCancel ? on_cancel(lane, am) : on_recall(lane, am);
}

void NativeMatching::drop_context(std::uint32_t context) ASHLAR_NO_THREAD_SAFETY {
  if (links_.empty() || !layout_.fits(context)) return;
  dropped_.push_back({{context, lane_.p2p->process.contexts_taken.load(std::memory_order_relaxed)}});
  sweep();
}

// In larger jobs frames may be of a communicator that is too large for tags.
bool NativeMatching::is_astray(const ashlar_am& am) const ASHLAR_NO_THREAD_SAFETY {
  if (lane_.peers.job_size() > TagLayout::kRanksMost || lane_.peers.knows_others()) return false;
  return !delivering_ && am.peer != lane_.peers.self() && layout_.fits(key_of(am).context()) &&
         link_of(am.peer) != nullptr;
}

void NativeMatching::count_taken(NativeLink& link, std::uint64_t bytes, bool tell) ASHLAR_NO_THREAD_SAFETY {
  ++link.taken;
  link.taken_weight += weight_of_tagged(bytes);
  const std::uint64_t each = std::min(kToldEach, lane_.p2p->config.unexpected_limit / 4);
  if (!tell && link.taken_weight - link.told_weight < each) return;
  link.told_weight = link.taken_weight;
  send_control(lane_, link.link, kTaggedTaken, link.taken_weight, 0);
}

// Frames have numbers, so that a lost one is known; of tagged messages the peer tells how many it has sent. Behind that
// word they are all here: in receives, or to be claimed.
void NativeMatching::watch_for_loss(std::uint64_t now) ASHLAR_NO_THREAD_SAFETY {
  next_watch_ = now + kWatchEvery;
  for (NativeReceive& receive : posted_) {
    NativeLink& link = *receive.link;
    if (receive.since == 0) receive.since = now;
    if (link.owed != 0 && link.taken >= link.owed) link.owed = 0;
    if (now - receive.since < kWatchEvery || now - link.asked_at < kWatchEvery) continue;
    link.asked_at = now;
    if (link.owed == 0) {
      send_control(lane_, link.link, kTaggedAsk, 0, 0);
    } else if (now - link.owed_since < kLostAfter || link.searched < kSearches) {
      sweep();
    } else {
      const std::string reason = "of its " + std::to_string(link.owed) + " messages that the network matches, " +
                                 std::to_string(link.owed - link.taken) + " were lost on the way";
      lane_.peers.mark_failed(link.link.peer->id, reason.c_str());
    }
  }
}

void NativeMatching::on_sent(const ashlar_am& am) {
  NativeLink* const link = link_of(am.peer);
  if (link == nullptr || link->taken >= am.h0) return;
  link->owed = am.h0;
  link->owed_since = now_ns();
  link->searched = 0;
  sweep();
}

}  // namespace ashlar::p2p

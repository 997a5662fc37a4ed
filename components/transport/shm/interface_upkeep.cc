#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "components/transport/shm/interface.h"
#include "components/transport/shm/pvars.h"
#include "components/transport/shm/sleeper.h"
#include "framework/base/background_thread.h"
#include "framework/base/clock.h"

namespace ashlar::shm {
unsigned Interface::advance() {
  slice_ = vector_slice_ = config_.copy_slice;
  unsigned events = advance_gets() + advance_vectors();
  // Own reads first. In the background the program computes: its core is not for helping.
  if (exposed_.wanted() && gets_.empty() && vectors_.empty() && !in_background()) {
    const unsigned chunks = exposed_.help(config_.copy_slice, [this](std::uint32_t i) -> const Endpoint* {
      const Endpoint* ep = endpoint_of(own_.copy(i).reader.load(std::memory_order_acquire));
      return ep && ep->may_write && !context_.oversubscribed ? ep : nullptr;
    });
    if (chunks) count(counters.chunks_helped, chunks);
    events += chunks;
  }
  if (requesting_ > 0) {
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      Endpoint& ep = *endpoints_[i];
      if (ep.way == Endpoint::Way::kRequesting && advance_request(ep)) {
        --requesting_;
        ++events;
      }
    }
    door_.serve(own_.fd());  // two processes that request of each other must both answer
  }
  update_busy();
  return events;
}

// Rare things: by the clock when progress is idle, and after every sleep.
void Interface::upkeep() {
  const std::uint64_t now = now_ns();
  if (closing_ > 0) {
    for (std::uint32_t i = 0; i < senders_.size(); ++i) {
      if (!senders_[i] || !senders_[i]->closing) continue;
      if (senders_[i]->peer == ASHLAR_NOBODY) hear_stranger(*senders_[i]);
      if (!senders_[i]->ring.has_news()) retire(i);
    }
  }
  if (now < next_upkeep_) return;
  next_upkeep_ = now + config_.death_check;
  door_.serve(own_.fd());
  watch_.look(&dead_);
  std::vector<std::uint64_t> dead;
  dead.swap(dead_);
  for (const std::uint64_t nonce : dead) bury(nonce);
}

// The process behind `nonce` has ended: delivers what it sent, then tells, unless it had said good-bye.
template <class Copy>
void Interface::fail_all(std::deque<Copy>& copies, Endpoint* Copy::*peer, Endpoint& ep) {
  for (std::size_t i = copies.size(); i-- > 0;) {
    if (copies[i].*peer != &ep) continue;
    ashlar_completion* const done = copies[i].done;
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    done->done(done, copy_failed(ep, ESRCH));
  }
}

void Interface::bury(std::uint64_t nonce) {
  bool orderly = false, known = false, all_closing = true;
  posts_.stop(nonce);
  std::uint32_t peer = 0;
  std::int32_t pid = 0;
  for (std::uint32_t i = 0; i < senders_.size(); ++i) {
    if (!senders_[i] || senders_[i]->nonce != nonce) continue;
    Sender& sender = *senders_[i];
    if (sender.peer == ASHLAR_NOBODY) hear_stranger(sender);
    if (sender.peer != ASHLAR_NOBODY) peer = sender.peer;
    while (sender.peer != ASHLAR_NOBODY && drain(sender) > 0) {
    }
    pid = sender.slot->pid;
    known = known || sender.peer != ASHLAR_NOBODY;
    // One that has taken its leave and come back has two, until the first is given back.
    all_closing = all_closing && sender.slot->state.load(std::memory_order_acquire) == kClosing;
    orderly = all_closing;
    retire(i);
  }
  if (Endpoint* ep = endpoint_of(nonce)) {
    peer = ep->peer;
    pid = ep->pid;
    known = true;
    orderly = orderly || (ep->owner && ep->owner->closed.load(std::memory_order_acquire) != 0);
    if (ep->way == Endpoint::Way::kRequesting) --requesting_;
    ep->way = Endpoint::Way::kDead;
    ep->capabilities &= ASHLAR_CAP_REST;
    if (ep->out.attached()) hide(host_, ep->out);
    ep->out_before_end = std::exchange(ep->out, Outbound());
    fail_all(gets_, &Get::from, *ep);
    fail_all(vectors_, &VectorCopy::peer, *ep);
  }
  update_busy();
  // A process of another job may leave in good order while this one still counts on it.
  if (!known || (orderly && peer < context_.job_size)) return;
  char reason[96];
  std::snprintf(reason, sizeof reason, "process %d ended without closing its connection", pid);
  context_.failed(context_.lane_context, peer, reason);
}

void Interface::retire(std::uint32_t index) {
  const std::unique_ptr<Sender> sender = std::move(senders_[index]);
  std::erase(polled_, sender.get());
  std::erase(unpolled_, sender.get());
  std::erase(strangers_, sender.get());
  if (sender->closing) --closing_;
  hide(host_, sender->ring);
  sender->ring.rewind_for_next_sender();
  sender->slot->cold.store(0, std::memory_order_relaxed);
  if (Endpoint* const ep = endpoint_of(sender->nonce)) {
    if (ep->inbound_slot == sender->slot) {
      ep->inbound = nullptr;
      ep->inbound_slot = nullptr;
    }
  } else {
    unwatch(sender->nonce);
  }
  count(counters.rings, ~0ull);
  count(counters.ring_bytes, ~own_.geometry().ring_bytes + 1);
  sender->slot->state.store(kFree, std::memory_order_relaxed);
  sender->slot->claim.store(0, std::memory_order_release);
}

}  // namespace ashlar::shm

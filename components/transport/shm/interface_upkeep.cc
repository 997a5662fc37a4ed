#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "components/transport/shm/interface.h"
#include "components/transport/shm/pvars.h"
#include "components/transport/shm/single_copy.h"
#include "components/transport/shm/sleeper.h"
#include "framework/base/background_thread.h"
#include "framework/base/clock.h"

namespace ashlar::shm {
namespace {

constexpr std::uint64_t kWholeChunk = 128 << 10;  // two of these beat more of less: each costs a system call
constexpr std::uint64_t kWakeFrom = 1 << 20;      // an owner that sleeps is woken to copy along from this size

}  // namespace

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) {
  if (kind != ASHLAR_MEMORY_HOST) {
    const ashlar_fact given = {.name = "kind", .text = nullptr, .number = kind};
    return ashlar_fail_with(&host_, ASHLAR_ERR_UNSUPPORTED_OPERATION, "transport.memory_kind", &given, 1);
  }
  exposed_.expose(address, length, nonce_, out);
  return ASHLAR_OK;
}

ashlar_result Interface::copy_failed(const Endpoint& ep, int error) const {
  const ashlar_fact whose[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "pid", .text = nullptr, .number = ep.pid},
                               {.name = "error", .text = std::strerror(error), .number = 0}};
  const int mpi_class = error == ESRCH ? ASHLAR_ERR_PROC_ABORTED : ASHLAR_ERR_OTHER;
  return ashlar_fail_with(&host_, mpi_class, "shm.copy", whose, std::size(whose));
}

ashlar_result Interface::no_access(const Endpoint& ep, const char* access) const {
  const ashlar_fact whose[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "access", .text = access, .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_UNSUPPORTED_OPERATION, "transport.no_access", whose, std::size(whose));
}

ashlar_result Interface::outside(const Endpoint& ep, const Key& key, std::uint64_t offset, std::uint64_t length) const {
  const ashlar_fact range[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "first", .text = nullptr, .number = static_cast<std::int64_t>(offset)},
                               {.name = "last", .text = nullptr, .number = static_cast<std::int64_t>(offset + length)},
                               {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(key.length)}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_ARG, "transport.outside", range, std::size(range));
}

ashlar_result Interface::get(Endpoint& ep, void* to, const Key& key, std::uint64_t offset, std::uint64_t length,
                             ashlar_completion* done) {
  if (!(ep.capabilities & ASHLAR_CAP_GET)) {
    return no_access(ep, "read");
  }
  if (key.nonce != ep.nonce || offset > key.length || length > key.length - offset) {
    return outside(ep, key, offset, length);
  }
  if (length == 0) return ASHLAR_OK;
  Get g{};
  g.from = &ep;
  g.to = static_cast<std::byte*>(to);
  g.done = done;
  g.length = length;
  const std::uint64_t chunk =
      std::min(std::max(std::min((length + 1) / 2, kWholeChunk), length / 4), std::max(config_.copy_chunk, kPage));
  // With more processes than cores the owner's copying would only take turns with ours, and where data goes both ways
  // it has enough to copy itself.
  if (length >= config_.both_sides_from && !context_.oversubscribed && !exposed_.any() &&
      lease(g, key, offset, chunk, nonce_)) {
    count(counters_.gets_shared);
    const bool worth_it = length >= kWakeFrom || in_background();
    if (worth_it && ep.owner->sleeping.load(std::memory_order_relaxed) == kAsleep) raise(*ep.owner);
  } else {
    alone(g, key, offset);
  }
  count(counters_.gets);
  busy_ = true;  // the next round renews the slice
  int error = 0;
  const bool later = !gets_.empty() || (in_background() && g.owner_copies(now_ns()));
  switch (later ? Get::State::kMore : g.advance(&slice_, &error)) {
    case Get::State::kDone:
      return ASHLAR_OK;
    case Get::State::kFailed:
      return copy_failed(ep, error);
    default:
      gets_.push_back(g);
      return ASHLAR_PENDING;
  }
}

ashlar_result Interface::put(Endpoint& ep, const void* from, const Key& key, std::uint64_t offset,
                             std::uint64_t length) {
  if (!(ep.capabilities & ASHLAR_CAP_PUT)) {
    return no_access(ep, "written");
  }
  if (key.nonce != ep.nonce || offset > key.length || length > key.length - offset) {
    return outside(ep, key, offset, length);
  }
  const int error = length ? write_to(ep.pid, from, key.address + offset, length) : 0;
  return error ? copy_failed(ep, error) : ASHLAR_OK;
}

unsigned Interface::advance() {
  slice_ = config_.copy_slice;
  unsigned events = advance_gets();
  // Own reads first. In the background the program computes: its core is not for helping.
  if (exposed_.wanted() && gets_.empty() && !in_background()) {
    const unsigned chunks = exposed_.help(config_.copy_slice, [this](std::uint32_t i) -> const Endpoint* {
      const Endpoint* ep = endpoint_of(own_.copy(i).reader.load(std::memory_order_acquire));
      return ep && ep->may_write && !context_.oversubscribed ? ep : nullptr;
    });
    if (chunks) count(counters_.chunks_helped, chunks);
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

unsigned Interface::advance_gets() {
  unsigned events = 0;
  const bool background = in_background();
  const std::uint64_t now = background ? now_ns() : 0;
  for (std::size_t i = 0; i < gets_.size();) {
    int error = 0;
    if (background && gets_[i].owner_copies(now)) {
      ++i;
      continue;
    }
    const Get::State state = gets_[i].advance(&slice_, &error);
    if (state == Get::State::kMore) return events + 1;
    if (state == Get::State::kWaiting) {
      ++i;
      continue;
    }
    const Get finished = gets_[i];
    gets_.erase(gets_.begin() + static_cast<std::ptrdiff_t>(i));
    ++events;
    finished.done->done(finished.done, error ? copy_failed(*finished.from, error) : ASHLAR_OK);
  }
  return events;
}

// Rare things: by the clock when progress is idle, and after every sleep.
void Interface::upkeep() {
  const std::uint64_t now = now_ns();
  if (closing_ > 0) {
    for (std::uint32_t i = 0; i < senders_.size(); ++i) {
      if (senders_[i] && senders_[i]->closing && !senders_[i]->ring.has_news()) retire(i);
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
void Interface::bury(std::uint64_t nonce) {
  bool orderly = false, known = false;
  posts_.stop(nonce);
  std::uint32_t peer = 0;
  std::int32_t pid = 0;
  for (std::uint32_t i = 0; i < senders_.size(); ++i) {
    if (!senders_[i] || senders_[i]->nonce != nonce) continue;
    Sender& sender = *senders_[i];
    while (drain(sender) > 0) {
    }
    peer = sender.peer;
    pid = sender.slot->pid;
    known = true;
    orderly = sender.slot->state.load(std::memory_order_acquire) == kClosing;
    retire(i);
    break;
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
    for (std::size_t i = gets_.size(); i-- > 0;) {
      if (gets_[i].from != ep) continue;
      ashlar_completion* done = gets_[i].done;
      gets_.erase(gets_.begin() + static_cast<std::ptrdiff_t>(i));
      done->done(done, copy_failed(*ep, ESRCH));
    }
  }
  update_busy();
  if (!known || orderly) return;
  char reason[96];
  std::snprintf(reason, sizeof reason, "process %d ended without closing its connection", pid);
  context_.failed(context_.lane_context, peer, reason);
}

void Interface::retire(std::uint32_t index) {
  const std::unique_ptr<Sender> sender = std::move(senders_[index]);
  std::erase(polled_, sender.get());
  std::erase(unpolled_, sender.get());
  if (sender->closing) --closing_;
  hide(host_, sender->ring);
  sender->ring.rewind_for_next_sender();
  sender->slot->cold.store(0, std::memory_order_relaxed);
  if (Endpoint* const ep = endpoint_of(sender->nonce)) {
    ep->inbound = nullptr;
    ep->inbound_slot = nullptr;
  } else {
    watch_.remove(sender->nonce);
  }
  count(counters_.rings, ~0ull);
  count(counters_.ring_bytes, ~own_.geometry().ring_bytes + 1);
  sender->slot->state.store(kFree, std::memory_order_relaxed);
  sender->slot->claim.store(0, std::memory_order_release);
}

}  // namespace ashlar::shm

#include "components/rma/am/window.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/plugin/account.h"
#include "framework/rma/waiting.h"

namespace ashlar::rma::am {
namespace {

template <class T>
T payload_of(const WindowMessage& message) {
  T out{};
  if (message.data.size() >= sizeof out) std::memcpy(&out, message.data.data(), sizeof out);
  return out;
}

struct FlushWait final : WindowWait {
  FlushWait(const Flush& what, Rank at, AmWindow& of) : flush(what), target(at), window(of) {}
  bool over() override { return flush.over; }
  bool needs(Rank rank) const override { return rank == target; }
  void tell(plugin::AccountWriter& account) const override {
    char reason[80];
    std::snprintf(reason, sizeof reason, "for rank %d to carry out operations on its memory", target);
    tell_wait(account, window.window, target, reason);
  }
  Rank asked() const override { return target; }
  const Flush& flush;
  const Rank target;
  AmWindow& window;
};

}  // namespace

AmWindow::AmWindow(RmaWindow& of, const Config& parameters)
    : window(of), config(parameters), channels(static_cast<std::size_t>(of.ranks)) {}

Channel* AmWindow::channel(Rank rank) {
  std::unique_ptr<Channel>& entry = channels[static_cast<std::size_t>(rank)];
  if (entry == nullptr) [[unlikely]]
    entry.reset(new (std::nothrow) Channel(*this, rank));
  return entry.get();
}

Status AmWindow::channel(Rank rank, Channel** out) {
  *out = channel(rank);
  if (*out != nullptr) [[likely]]
    return {};
  return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the queue of one-sided operations to a rank"}, {"peer", rank}});
}

std::byte* AmWindow::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset(new (std::nothrow) std::byte[bytes]);
    scratch_bytes_ = scratch_ ? bytes : 0;
  }
  return scratch_.get();
}

void AmWindow::deliver(const WindowMessage& message) {
  Channel* const from = channel(message.from);
  if (from == nullptr) {
    ASHLAR_LOG(error, "rma", "no memory for a message of rank %d on window '%s'; it will wait for ever", message.from,
               window.label());
    return;
  }
  const Word word = Word::of(message.word);
  LockQueued queued;
  switch (word.sub) {
    case Sub::kPut:
    case Sub::kGet:
    case Sub::kUpdate:
    case Sub::kSwap:
      return serve(*this, *from, word, message.data);
    case Sub::kPing:
      from->answers.done(word.sequence);
      return from->answers.pong();
    case Sub::kPost:
      ++from->posts;
      break;
    case Sub::kComplete:
      ++from->completes;
      break;
    case Sub::kLock:
      from->answers.done(word.sequence);
      return take_lock(*from, payload_of<LockRequest>(message));
    case Sub::kUnlock:
      from->answers.done(word.sequence);
      return take_unlock(*from, payload_of<LockRequest>(message));
    case Sub::kData:
      return from->requests.on_data(word.sequence, message.data);
    case Sub::kRefused:
      return from->requests.on_refused(word.sequence, payload_of<Fault>(message));
    case Sub::kPong:
      return from->requests.on_pong(word.sequence, payload_of<Fault>(message));
    case Sub::kGranted:
      from->grants[payload_of<LockRequest>(message).which % kLocks].granted = true;
      return;
    case Sub::kQueued:
      queued = payload_of<LockQueued>(message);
      from->grants[queued.request.which % kLocks].holder = queued.holder;
      from->grants[queued.request.which % kLocks].held = static_cast<LockMode>(queued.mode);
      from->grants[queued.request.which % kLocks].before = queued.before;
      return;
  }
  from->answers.done(word.sequence);
}

// Locks that the process held, or waited for, are not passed on: what they protect may have been left half done. Waits
// for them end with a failure at each process that waits.
void AmWindow::peer_failed(Rank rank) {
  Channel* const other = channels[static_cast<std::size_t>(rank)].get();
  if (other == nullptr) return;
  other->requests.end();
  other->answers.end();
}

void AmWindow::take_lock(Channel& from, const LockRequest& request) {
  const auto which = static_cast<WhichLock>(request.which % kLocks);
  LockEntry& entry = from.entries[which];
  if (entry.linked()) return;  // an origin waits for one request before it makes the next
  entry.mode = static_cast<LockMode>(request.mode);
  const std::uint32_t before = locks[which].waiting();
  if (locks[which].request(entry, request.nested != 0)) return from.answers.grant(which);
  const LockEntry& holder = *locks[which].holder();
  from.answers.queued(
      {.request = request, .mode = static_cast<std::uint32_t>(holder.mode), .holder = holder.rank, .before = before});
}

void AmWindow::take_unlock(Channel& from, const LockRequest& request) {
  const auto which = static_cast<WhichLock>(request.which % kLocks);
  if (from.entries[which].linked()) leave(from.entries[which], which);
}

void AmWindow::leave(LockEntry& entry, WhichLock which) {
  locks[which].release(entry,
                       [&](LockEntry& next) { channels[static_cast<std::size_t>(next.rank)]->answers.grant(which); });
}

Status AmWindow::flush(Channel& channel, bool remote, const char* call) {
  Requests& requests = channel.requests;
  if (!requests.idle()) {
    Flush flush(remote);
    requests.add(flush);
    Status outcome = wire().kick(requests);
    FlushWait wait(flush, requests.to(), *this);
    if (outcome.ok()) outcome = wire().wait(wait, call);
    requests.forget(flush);
    if (outcome.ok() && flush.gone) outcome = wire().fail_gone(requests.to());
    ASHLAR_TRY(outcome);
  }
  return requests.take_failure();
}

}  // namespace ashlar::rma::am

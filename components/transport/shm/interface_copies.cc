// Gets, puts and what is under way of them.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/shm/interface.h"
#include "components/transport/shm/pvars.h"
#include "components/transport/shm/sleeper.h"
#include "framework/base/background_thread.h"
#include "framework/base/clock.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::shm {
namespace {

constexpr std::uint64_t kWholeChunk = 128 << 10;  // two of these beat more of less: each costs a system call
constexpr std::uint64_t kWakeFrom = 1 << 20;      // an owner that sleeps is woken to copy along from this size

}  // namespace

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) {
  if (kind != ASHLAR_MEMORY_HOST) return plugin::fail_memory_kind(host_, kind);
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

ashlar_result Interface::get(Endpoint& ep, void* to, const Key& key, std::uint64_t offset, std::uint64_t length,
                             ashlar_completion* done) {
  if (!(ep.capabilities & ASHLAR_CAP_GET)) {
    return no_access(ep, "read");
  }
  if (key.nonce != ep.nonce || offset > key.length || length > key.length - offset) {
    return plugin::fail_outside(host_, ep.peer, offset, length, key.length);
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
    count(counters.gets_shared);
    const bool worth_it = length >= kWakeFrom || in_background();
    if (worth_it && (ep.owner->sleeping.load(std::memory_order_relaxed) & kSleepState) == kAsleep)
      raise(*ep.owner, wake_socket_);
  } else {
    alone(g, key, offset);
  }
  count(counters.gets);
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

ashlar_result Interface::put(Endpoint& ep, const void* from, const Key& key, std::uint64_t offset, std::uint64_t length,
                             ashlar_completion* done) {
  if (!(ep.capabilities & ASHLAR_CAP_PUT)) {
    return no_access(ep, "written");
  }
  if (key.nonce != ep.nonce || offset > key.length || length > key.length - offset) {
    return plugin::fail_outside(host_, ep.peer, offset, length, key.length);
  }
  if (length == 0) return ASHLAR_OK;
  return start({.peer = &ep,
                .done = done,
                .region = key.address,
                .one = {.local = const_cast<void*>(from), .offset = offset, .length = length},
                .writes = true});
}

ashlar_result Interface::copy_pieces(Endpoint& ep, bool writes, const Key& key, const ashlar_piece* pieces,
                                     std::uint32_t count, ashlar_completion* done) {
  if (!(ep.capabilities & (writes ? ASHLAR_CAP_PUT : ASHLAR_CAP_GET)))
    return no_access(ep, writes ? "written" : "read");
  for (std::uint32_t i = 0; i < count; ++i) {
    const ashlar_piece& piece = pieces[i];
    if (key.nonce != ep.nonce || piece.offset > key.length || piece.length > key.length - piece.offset)
      return plugin::fail_outside(host_, ep.peer, piece.offset, piece.length, key.length);
  }
  return start({.peer = &ep, .done = done, .region = key.address, .several = pieces, .count = count, .writes = writes});
}

/// The first slice at once, unless others wait for theirs.
ashlar_result Interface::start(const VectorCopy& copy) {
  busy_ = true;  // the next round renews the slice
  VectorCopy begun = copy;
  if (vectors_.empty()) {
    if (const int error = begun.advance(&vector_slice_)) return copy_failed(*begun.peer, error);
    if (begun.over()) return ASHLAR_OK;
  }
  vectors_.push_back(begun);
  return ASHLAR_PENDING;
}

unsigned Interface::advance_vectors() {
  unsigned events = 0;
  while (!vectors_.empty()) {
    VectorCopy& oldest = vectors_.front();
    const int error = oldest.advance(&vector_slice_);
    if (error == 0 && !oldest.over()) return events + 1;
    const VectorCopy finished = oldest;
    vectors_.pop_front();
    ++events;
    finished.done->done(finished.done, error ? copy_failed(*finished.peer, error) : ASHLAR_OK);
  }
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

}  // namespace ashlar::shm

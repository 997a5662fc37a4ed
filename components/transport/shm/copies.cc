#include "components/transport/shm/copies.h"

#include <algorithm>
#include <cstring>

#include "components/transport/shm/endpoint.h"
#include "components/transport/shm/segment.h"
#include "components/transport/shm/single_copy.h"

namespace ashlar::shm {
namespace {

constexpr std::uint64_t kCount = 0xfffff;  // a chunk counter inside CopyDescriptor::claim
constexpr std::uint64_t kBackOne = 1ull << 20;
constexpr std::uint64_t kOwnerIsLate = 300'000;  // ns for a chunk, and for waking up
constexpr std::uint64_t kEpochOne = 1ull << 40;
constexpr std::uint64_t kEpochs = ~(kEpochOne - 1);

std::uint64_t front_of(std::uint64_t claim) { return claim & kCount; }
std::uint64_t back_of(std::uint64_t claim) { return claim / kBackOne & kCount; }

// Takes one chunk by adding `unit`; false when none is left. *claim is the word as it was (or is, when false).
bool take(CopyDescriptor& d, std::uint64_t* claim, std::uint64_t chunks, std::uint64_t unit) {
  std::uint64_t seen = *claim;
  while (front_of(seen) + back_of(seen) < chunks) {
    const std::uint64_t epoch = seen & kEpochs;
    if (d.claim.compare_exchange_weak(seen, seen + unit, std::memory_order_acq_rel, std::memory_order_acquire)) {
      *claim = seen;
      return true;
    }
    if ((seen & kEpochs) != epoch) break;
  }
  *claim = seen;
  return false;
}

}  // namespace

void Exposed::expose(const void* address, std::uint64_t length, std::uint64_t nonce, ashlar_key* out) {
  Key key{.address = reinterpret_cast<std::uint64_t>(address),
          .length = length,
          .nonce = nonce,
          .generation = 0,
          .descriptor = kNoDescriptor};
  for (std::uint32_t i = 0; i < kCopies; ++i) {
    Region& r = regions_[i];
    if (r.used) continue;
    r = Region{.address = key.address, .length = length, .generation = r.generation + 1, .used = true};
    ++used_;
    key.descriptor = i;
    key.generation = r.generation;
    own_->copy(i).lease.store(r.generation << 1, std::memory_order_release);
    break;
  }
  *out = {};
  std::memcpy(out->bytes, &key, sizeof key);
}

void Exposed::unexpose(const ashlar_key& bytes) {
  Key key;
  std::memcpy(&key, bytes.bytes, sizeof key);
  if (key.descriptor >= kCopies || regions_[key.descriptor].generation != key.generation) return;
  Region& r = regions_[key.descriptor];
  r.used = false;
  --used_;
  asked_ &= ~(1ull << key.descriptor);
  own_->copy(key.descriptor).lease.store(0, std::memory_order_release);  // generations begin at 1
}

void Exposed::collect() { asked_ |= own_->header().copies.exchange(0, std::memory_order_acq_rel); }

bool Exposed::help_one(std::uint32_t i, std::uint64_t* slice, const Endpoint* reader) {
  const Region& region = regions_[i];
  if (!region.used) return false;
  CopyDescriptor& d = own_->copy(i);
  while (*slice > 0) {
    std::uint64_t claim = d.claim.load(std::memory_order_acquire);
    // Acquire, so that seeing a later reader's value makes the exchange below see its epoch too.
    const std::uint64_t length = d.length.load(std::memory_order_acquire);
    const std::uint64_t chunk = d.chunk.load(std::memory_order_acquire);
    const std::uint64_t offset = d.offset.load(std::memory_order_acquire);
    const std::uint64_t to = d.to.load(std::memory_order_acquire);
    const std::uint64_t whose = d.reader.load(std::memory_order_acquire);
    if (chunk == 0 || whose != reader->nonce || offset > region.length || length > region.length - offset) return false;
    const std::uint64_t chunks = (length + chunk - 1) / chunk;
    const std::uint64_t epoch = claim & kEpochs;
    if (!take(d, &claim, chunks, kBackOne) || (claim & kEpochs) != epoch) return false;
    const std::uint64_t at = (chunks - 1 - back_of(claim)) * chunk;
    const std::uint64_t bytes = std::min(chunk, length - at);
    const auto* from = reinterpret_cast<const void*>(region.address + offset + at);
    if (const int error = write_to(reader->pid, from, to + at, bytes)) {
      d.back_failed.store(static_cast<std::uint64_t>(error), std::memory_order_relaxed);
    }
    d.back_done.fetch_add(1, std::memory_order_release);
    ++chunks_helped_;
    *slice -= std::min(*slice, bytes);
  }
  return true;
}

void alone(Get& get, const Key& key, std::uint64_t offset) {
  get.shared = nullptr;
  get.remote = key.address + offset;
  get.remaining = get.length;
}

bool lease(Get& get, const Key& key, std::uint64_t offset, std::uint64_t chunk, std::uint64_t own_nonce) {
  if (key.descriptor >= kCopies) return false;
  CopyDescriptor& d = get.from->segment.copy(key.descriptor);
  std::uint64_t free = key.generation << 1;
  if (!d.lease.compare_exchange_strong(free, free | 1, std::memory_order_acquire)) return false;
  get.shared = &d;
  get.base = key.address + offset;
  get.generation = key.generation;
  get.chunk = std::max<std::uint64_t>(chunk, get.length / (kCount - 1) + 1);
  get.chunks = (get.length + get.chunk - 1) / get.chunk;
  get.failure = 0;
  get.epoch = (d.claim.load(std::memory_order_relaxed) & kEpochs) + kEpochOne;
  // Shut first: an owner that still holds the old word must not combine it with the new description.
  d.claim.store(get.epoch | kCount, std::memory_order_relaxed);
  d.reader.store(own_nonce, std::memory_order_release);
  d.to.store(reinterpret_cast<std::uint64_t>(get.to), std::memory_order_release);
  d.offset.store(offset, std::memory_order_release);
  d.length.store(get.length, std::memory_order_release);
  d.chunk.store(get.chunk, std::memory_order_release);
  d.back_done.store(0, std::memory_order_relaxed);
  d.back_failed.store(0, std::memory_order_relaxed);
  d.claim.store(get.epoch, std::memory_order_release);
  SegmentHeader& owner = get.from->segment.header();
  owner.copies.fetch_or(1ull << key.descriptor, std::memory_order_release);
  owner.attention.fetch_or(kAttendCopies, std::memory_order_release);
  return true;
}

Get::State Get::advance_alone(std::uint64_t* slice, int* error) {
  const std::uint64_t bytes = std::min(*slice, remaining);
  *slice -= bytes;
  *error = read_from(from->pid, to + (length - remaining), remote, bytes);
  if (*error) return State::kFailed;
  remote += bytes;
  remaining -= bytes;
  return remaining > 0 ? State::kMore : State::kDone;
}

Get::State Get::advance(std::uint64_t* slice, int* error) {
  if (!shared) return advance_alone(slice, error);
  std::uint64_t claim = shared->claim.load(std::memory_order_acquire);
  while (*slice > 0) {
    if (!take(*shared, &claim, chunks, 1)) return finish(back_of(claim), error);
    const std::uint64_t at = front_of(claim) * chunk;
    const std::uint64_t bytes = std::min(chunk, length - at);
    failure = read_from(from->pid, to + at, base + at, bytes);
    if (failure) return finish(close_claims(), error);
    *slice -= std::min(*slice, bytes);
    claim = shared->claim.load(std::memory_order_acquire);
  }
  return State::kMore;
}

bool Get::owner_copies(std::uint64_t now) {
  if (!shared) return false;
  const std::uint64_t claim = shared->claim.load(std::memory_order_acquire);
  if (front_of(claim) + back_of(claim) >= chunks) return false;  // all taken: there is only the end to be seen
  if (left_at == 0 || back_of(claim) != left_since) {
    left_since = back_of(claim);
    left_at = now;
  }
  return now - left_at < kOwnerIsLate;
}

// Leaves nothing to take; how much the owner has.
std::uint64_t Get::close_claims() {
  std::uint64_t seen = shared->claim.load(std::memory_order_acquire);
  while (!shared->claim.compare_exchange_weak(seen, (seen & ~kCount) | (chunks - back_of(seen)),
                                              std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  return back_of(seen);
}

Get::State Get::finish(std::uint64_t taken_back, int* error) {
  if (shared->back_done.load(std::memory_order_acquire) < taken_back) return State::kWaiting;
  if (failure == 0 && shared->back_failed.load(std::memory_order_relaxed) != 0) {
    // The owner may not write here after all; what it took is read instead.
    const std::uint64_t at = (chunks - taken_back) * chunk;
    failure = read_from(from->pid, to + at, base + at, length - at);
  }
  std::uint64_t mine = generation << 1 | 1;
  shared->lease.compare_exchange_strong(mine, generation << 1, std::memory_order_release, std::memory_order_relaxed);
  *error = failure;
  return failure ? State::kFailed : State::kDone;
}

}  // namespace ashlar::shm

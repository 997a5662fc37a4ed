#include "components/transport/shm/posts.h"

#include <algorithm>
#include <bit>

#include "components/transport/shm/endpoint.h"
#include "components/transport/shm/interface.h"
#include "components/transport/shm/segment.h"
#include "components/transport/shm/single_copy.h"
#include "components/transport/shm/sleeper.h"
#include "framework/base/process_barrier.h"

namespace ashlar::shm {
namespace {

constexpr unsigned kStateBits = 3;
constexpr unsigned kSlotBits = 6;
static_assert(kPosts == 1u << kSlotBits);

std::uint64_t in(std::uint64_t generation, PostState state) { return generation << kStateBits | state; }
PostState state_of(std::uint64_t word) { return static_cast<PostState>(word & ((1u << kStateBits) - 1)); }

std::uint32_t number_of(std::uint64_t generation, std::uint32_t i) {
  return static_cast<std::uint32_t>(generation) << kSlotBits | i;
}

// What of h1 is the same in all messages of a kind.
constexpr std::uint64_t kKind = ~std::uint64_t{0} << 32;

// ashlar_found::place
enum Place { kSlotIndex, kGeneration, kAddress };

}  // namespace

ashlar_result Posts::post(const Endpoint& to, const ashlar_posted& what, std::uint32_t* number) {
  if (~used_ == 0) return ASHLAR_AGAIN;
  if (!has_memory_) {
    const ashlar_result claimed = own_->claim_posts(to.iface->host());
    if (claimed != ASHLAR_OK) return claimed;
    has_memory_ = true;
  }
  const auto i = static_cast<std::uint32_t>(std::countr_one(used_));
  std::uint64_t& generation = generations_[i];
  do ++generation;
  while (number_of(generation, 0) == 0);
  PostSlot& slot = own_->post(i);
  slot.sender.store(to.nonce, std::memory_order_relaxed);
  slot.h0.store(what.h0, std::memory_order_relaxed);
  slot.h1.store(what.h1, std::memory_order_relaxed);
  slot.before.store(what.before, std::memory_order_relaxed);
  slot.seen.store(to.inbound != nullptr ? to.inbound->position() : kNothingSeen, std::memory_order_relaxed);
  slot.address.store(reinterpret_cast<std::uint64_t>(what.address), std::memory_order_relaxed);
  slot.length.store(what.length, std::memory_order_relaxed);
  slot.token.store(what.token, std::memory_order_relaxed);
  slot.written.store(0, std::memory_order_relaxed);
  slot.state.store(in(generation, kOpen), std::memory_order_release);
  used_ |= 1ull << i;
  SegmentHeader& head = own_->header();
  head.posts.store(used_, std::memory_order_release);
  std::uint32_t made = head.posts_made.load(std::memory_order_relaxed) + 1;
  if (made == 0) made = 1;
  head.posts_made.store(made, std::memory_order_release);
  *number = number_of(generation, i);
  // A sender sets the flag before it looks; so it finds this receive, or its flag is found here.
  if (to.inbound_slot != nullptr) {
    full_fence();
    std::atomic<std::uint32_t>& looks = to.inbound_slot->looks_for_posts;
    if (looks.load(std::memory_order_relaxed) != 0 && to.owner != nullptr) {
      looks.store(0, std::memory_order_relaxed);
      raise_always(*to.owner, to.iface->wake_socket());
    }
  }
  return ASHLAR_OK;
}

ashlar_result Posts::withdraw(std::uint32_t number, std::uint64_t* written) {
  const std::uint32_t i = number % kPosts;
  *written = 0;
  if ((used_ >> i & 1) == 0 || number_of(generations_[i], i) != number) return ASHLAR_OK;
  PostSlot& slot = own_->post(i);
  std::uint64_t seen = slot.state.load(std::memory_order_acquire);
  for (;;) {
    const bool writing = state_of(seen) == kWriting;
    if (state_of(seen) == kAsked) return ASHLAR_PENDING;
    if (state_of(seen) == kStopped || state_of(seen) == kFilled) break;
    if (slot.state.compare_exchange_weak(seen, in(generations_[i], writing ? kAsked : kNone), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      if (writing) return ASHLAR_PENDING;
      break;
    }
  }
  *written = slot.written.load(std::memory_order_relaxed);
  release(i);
  return ASHLAR_OK;
}

void Posts::release(std::uint32_t i) {
  own_->post(i).state.store(in(generations_[i], kNone), std::memory_order_release);
  used_ &= ~(1ull << i);
  own_->header().posts.store(used_, std::memory_order_release);
}

void Posts::stop(std::uint64_t nonce) {
  for (std::uint64_t bits = used_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
    PostSlot& slot = own_->post(i);
    if (slot.sender.load(std::memory_order_relaxed) != nonce) continue;
    const PostState state = state_of(slot.state.load(std::memory_order_acquire));
    if (state == kWriting || state == kAsked)
      slot.state.store(in(generations_[i], kStopped), std::memory_order_release);
  }
}

ashlar_result find_post(const Endpoint& to, const ashlar_sent& message, ashlar_found* found) {
  if (to.way != Endpoint::Way::kAttached) return ASHLAR_AGAIN;
  std::atomic<std::uint32_t>& looks = to.slot->looks_for_posts;
  if (looks.load(std::memory_order_relaxed) == 0) {
    looks.store(1, std::memory_order_relaxed);
    full_fence();
  }
  const std::uint32_t made = to.owner->posts_made.load(std::memory_order_acquire);
  if (made == found->seen) return ASHLAR_AGAIN;
  found->seen = made;

  // Receives posted in a row have seen the same records; then the ring is walked once.
  std::uint64_t counted_from = kNothingSeen, earlier = 0;
  bool known = false;
  for (std::uint64_t bits = to.owner->posts.load(std::memory_order_acquire); bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
    PostSlot& slot = to.segment.post(i);
    const std::uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state_of(state) != kOpen || slot.sender.load(std::memory_order_relaxed) != to.iface->nonce() ||
        slot.h0.load(std::memory_order_relaxed) != message.h0 ||
        slot.h1.load(std::memory_order_relaxed) != (message.h1 & kKind) ||
        slot.length.load(std::memory_order_relaxed) < message.length)
      continue;
    std::uint64_t from = slot.seen.load(std::memory_order_relaxed);
    if (from == kNothingSeen) from = to.out.first();
    if (from != counted_from) {
      counted_from = from;
      known = false;
      // Names of operations are used again: the message itself is the newest record with these words.
      std::uint64_t alike = 0;
      const bool walked = to.out.revisit(from, [&](std::uint8_t id, std::uint64_t h0, std::uint64_t h1) {
        if (h0 != message.h0 || ((h1 ^ message.h1) & kKind) != 0) return;
        if (id == message.id && h1 == message.h1) {
          known = true;
          earlier = alike;
        }
        if ((message.ids >> id & 1) != 0) ++alike;
      });
      known = known && walked;
    }
    if (!known || slot.before.load(std::memory_order_relaxed) != earlier) continue;
    found->number = number_of(state >> kStateBits, i);
    found->token = slot.token.load(std::memory_order_relaxed);
    found->place[kSlotIndex] = i;
    found->place[kGeneration] = state >> kStateBits;
    found->place[kAddress] = slot.address.load(std::memory_order_relaxed);
    // Were it another receive by now, its generation would be another one, and the first write would find that.
    return ASHLAR_OK;
  }
  return ASHLAR_AGAIN;
}

ashlar_result write_post(const Endpoint& to, ashlar_found* found, const void* data, std::uint64_t length,
                         std::uint64_t most) {
  if (to.way != Endpoint::Way::kAttached) return ASHLAR_AGAIN;
  PostSlot& slot = to.segment.post(static_cast<std::uint32_t>(found->place[kSlotIndex]));
  const std::uint64_t generation = found->place[kGeneration];
  std::uint64_t mine = in(generation, found->written == 0 ? kOpen : kBetween);
  if (!slot.state.compare_exchange_strong(mine, in(generation, kWriting), std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
    return ASHLAR_AGAIN;
  const std::uint64_t bytes = std::min(length - found->written, most);
  const int error = write_to(to.pid, static_cast<const std::byte*>(data) + found->written,
                             found->place[kAddress] + found->written, bytes);
  if (error == 0) found->written += bytes;
  const bool all = found->written == length;
  slot.written.store(found->written, std::memory_order_relaxed);
  std::uint64_t writing = in(generation, kWriting);
  if (!slot.state.compare_exchange_strong(writing, in(generation, all ? kFilled : kBetween), std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    slot.state.store(in(generation, kStopped), std::memory_order_release);
    found->asked = 1;
  }
  if (error != 0) return to.iface->copy_failed(to, error);
  return all ? ASHLAR_OK : ASHLAR_PENDING;
}

}  // namespace ashlar::shm

#include "components/transport/shm/offers.h"

#include <algorithm>
#include <bit>

#include "components/transport/shm/endpoint.h"
#include "components/transport/shm/interface.h"
#include "components/transport/shm/segment.h"
#include "components/transport/shm/single_copy.h"
#include "components/transport/shm/sleeper.h"

namespace ashlar::shm {
namespace {

constexpr unsigned kStateBits = 3;
constexpr unsigned kSlotBits = 6;
static_assert(kOffers == 1u << kSlotBits);

std::uint64_t in(std::uint64_t generation, OfferState state) { return generation << kStateBits | state; }
OfferState state_of(std::uint64_t word) { return static_cast<OfferState>(word & ((1u << kStateBits) - 1)); }

std::uint32_t number_of(std::uint64_t generation, std::uint32_t i) {
  return static_cast<std::uint32_t>(generation) << kSlotBits | i;
}

// ashlar_claim::place
enum Place { kSlotIndex, kGeneration, kAddress };

}  // namespace

ashlar_result Offered::offer(const Endpoint& to, const ashlar_offer& what, std::uint32_t* number) {
  if (~used_ == 0) return ASHLAR_AGAIN;
  if (!has_memory_) {
    const ashlar_result claimed = own_->claim_offers(to.iface->host());
    if (claimed != ASHLAR_OK) return claimed;
    has_memory_ = true;
  }
  const auto i = static_cast<std::uint32_t>(std::countr_one(used_));
  std::uint64_t& generation = generations_[i];
  do ++generation;
  while (number_of(generation, 0) == 0);
  OfferSlot& slot = own_->offer(i);
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
  head.offers.store(used_, std::memory_order_release);
  std::uint32_t made = head.offers_made.load(std::memory_order_relaxed) + 1;
  if (made == 0) made = 1;
  head.offers_made.store(made, std::memory_order_release);
  *number = number_of(generation, i);
  // A sender says that it looks before it looks; so it finds this offer, or is found here.
  if (to.inbound_slot != nullptr) {
    full_fence();
    std::atomic<std::uint32_t>& looks = to.inbound_slot->looks_for_offers;
    if (looks.load(std::memory_order_relaxed) != 0 && to.owner != nullptr) {
      looks.store(0, std::memory_order_relaxed);
      raise_always(*to.owner);
    }
  }
  return ASHLAR_OK;
}

ashlar_result Offered::withdraw(std::uint32_t number, std::uint64_t* written) {
  const std::uint32_t i = number % kOffers;
  *written = 0;
  if ((used_ >> i & 1) == 0 || number_of(generations_[i], i) != number) return ASHLAR_OK;
  OfferSlot& slot = own_->offer(i);
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

void Offered::release(std::uint32_t i) {
  own_->offer(i).state.store(in(generations_[i], kNone), std::memory_order_release);
  used_ &= ~(1ull << i);
  own_->header().offers.store(used_, std::memory_order_release);
}

void Offered::stop(std::uint64_t nonce) {
  for (std::uint64_t bits = used_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
    OfferSlot& slot = own_->offer(i);
    if (slot.sender.load(std::memory_order_relaxed) != nonce) continue;
    const OfferState state = state_of(slot.state.load(std::memory_order_acquire));
    if (state == kWriting || state == kAsked)
      slot.state.store(in(generations_[i], kStopped), std::memory_order_release);
  }
}

ashlar_result claim_offer(const Endpoint& to, const ashlar_sent& message, ashlar_claim* claim) {
  if (to.way != Endpoint::Way::kAttached) return ASHLAR_AGAIN;
  std::atomic<std::uint32_t>& looks = to.slot->looks_for_offers;
  if (looks.load(std::memory_order_relaxed) == 0) {
    looks.store(1, std::memory_order_relaxed);
    full_fence();
  }
  const std::uint32_t made = to.owner->offers_made.load(std::memory_order_acquire);
  if (made == claim->seen) return ASHLAR_AGAIN;
  claim->seen = made;

  // Offers of one call sequence have seen the same; then the ring is walked once.
  std::uint64_t counted_from = kNothingSeen, earlier = 0;
  bool known = false;
  for (std::uint64_t bits = to.owner->offers.load(std::memory_order_acquire); bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
    OfferSlot& slot = to.segment.offer(i);
    const std::uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state_of(state) != kOpen || slot.sender.load(std::memory_order_relaxed) != to.iface->nonce() ||
        slot.h0.load(std::memory_order_relaxed) != message.h0 ||
        slot.h1.load(std::memory_order_relaxed) != (message.h1 & message.h1_mask) ||
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
        if (h0 != message.h0 || ((h1 ^ message.h1) & message.h1_mask) != 0) return;
        if (id == message.id && h1 == message.h1) {
          known = true;
          earlier = alike;
        }
        if ((message.ids >> id & 1) != 0) ++alike;
      });
      known = known && walked;
    }
    if (!known || slot.before.load(std::memory_order_relaxed) != earlier) continue;
    claim->number = number_of(state >> kStateBits, i);
    claim->token = slot.token.load(std::memory_order_relaxed);
    claim->place[kSlotIndex] = i;
    claim->place[kGeneration] = state >> kStateBits;
    claim->place[kAddress] = slot.address.load(std::memory_order_relaxed);
    // Were it another offer by now, its generation would be another one, and the first deposit would find that.
    return ASHLAR_OK;
  }
  return ASHLAR_AGAIN;
}

ashlar_result deposit(const Endpoint& to, ashlar_claim* claim, const void* data, std::uint64_t length,
                      std::uint64_t most) {
  if (to.way != Endpoint::Way::kAttached) return ASHLAR_AGAIN;
  OfferSlot& slot = to.segment.offer(static_cast<std::uint32_t>(claim->place[kSlotIndex]));
  const std::uint64_t generation = claim->place[kGeneration];
  std::uint64_t mine = in(generation, claim->written == 0 ? kOpen : kBetween);
  if (!slot.state.compare_exchange_strong(mine, in(generation, kWriting), std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
    return ASHLAR_AGAIN;
  const std::uint64_t bytes = std::min(length - claim->written, most);
  const int error = write_to(to.pid, static_cast<const std::byte*>(data) + claim->written,
                             claim->place[kAddress] + claim->written, bytes);
  if (error == 0) claim->written += bytes;
  const bool all = claim->written == length;
  slot.written.store(claim->written, std::memory_order_relaxed);
  std::uint64_t writing = in(generation, kWriting);
  if (!slot.state.compare_exchange_strong(writing, in(generation, all ? kFilled : kBetween), std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    slot.state.store(in(generation, kStopped), std::memory_order_release);
    claim->asked = 1;
  }
  if (error != 0) return to.iface->copy_failed(to, error);
  return all ? ASHLAR_OK : ASHLAR_PENDING;
}

}  // namespace ashlar::shm

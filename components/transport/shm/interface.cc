#include "components/transport/shm/interface.h"

#include <algorithm>
#include <bit>
#include <string>

#include "components/transport/shm/pvars.h"
#include "components/transport/shm/single_copy.h"
#include "framework/base/background_thread.h"
#include "framework/base/bytes_text.h"
#include "framework/base/clock.h"
#include "framework/base/process_barrier.h"
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::shm {
namespace {

constexpr unsigned kDrainBudget = 32;  // records of one ring before the others are looked at
constexpr std::uint64_t kSmallestRing = 8 << 10;
constexpr std::uint64_t kLargestRing = 64 << 20;
constexpr std::uint32_t kUpkeepEvery = 1024;  // idle progress calls between looks at the clock
constexpr std::uint32_t kThinOutEvery = 256;
constexpr std::uint32_t kQuietPolls = 2000;  // polls without news after which one ring of many is left to its bell

}  // namespace

Interface::Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
    : host_(host), config_(config), context_(context) {
  ops = &kInterfaceOps;
}

Geometry Interface::geometry() const {
  const std::uint64_t ranks = std::max<std::uint32_t>(context_.local_size, 2);
  std::uint64_t ring = std::min(config_.ring_bytes, config_.node_budget / (ranks * ranks));
  ring = std::bit_floor(std::clamp(ring, kSmallestRing, kLargestRing));
  if (ring != config_.ring_bytes && host_.adjusted) {
    const std::string used = bytes_text(ring);
    host_.adjusted("transport", "shm", "ring_bytes", used.c_str(),
                   ring < std::bit_floor(config_.ring_bytes)
                       ? "that is a ring's share of transport.shm.node_budget among the ranks of this node"
                       : "a ring's size is a power of two");
  }
  const std::uint64_t slots = std::max<std::uint32_t>(context_.local_size, 1) + config_.extra_rings;
  return Geometry{static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, kMaxSlots)), ring};
}

ashlar_result Interface::open() {
  identity_ = Identity::of_this_process();
  nonce_ = random_nonce();
  const ashlar_result made = own_.create(host_, geometry(), nonce_);
  if (made != ASHLAR_OK) return made;
  // Where ranks outnumber cores they sleep often: a fence at every send costs less than a membarrier at every sleep
  // (exchanges of 16 ranks on 2 cores: 165 against 250 us).
  barriers_ = !context_.oversubscribed && register_for_barriers();
  own_.header().senders_fence = barriers_ ? 0 : 1;
  own_.header().net_namespace = identity_.net_namespace;
  senders_.resize(own_.geometry().slots);
  slice_ = vector_slice_ = config_.copy_slice;
  exposed_.attach(&own_);
  posts_.attach(&own_);
  if (config_.single_copy) open_to_peers(config_.yama);
  if (config_.descriptor_passing) door_.open(nonce_, context_.job_cookie, config_.descriptor_clients, counters);
  next_upkeep_ = now_ns() + config_.death_check;
  return ASHLAR_OK;
}

Interface::~Interface() {
  for (const auto& sender : senders_)
    if (sender) hide(host_, sender->ring);
  while (!endpoints_.empty()) disconnect(*endpoints_.back());
  if (own_) own_.header().closed.store(1, std::memory_order_release);
}

ashlar_result Interface::write_address(void* out, std::uint32_t* length) const {
  Address a{};
  a.nonce = nonce_;
  a.node = identity_.node;
  a.pid_namespace = identity_.pid_namespace;
  a.start_time = identity_.start_time;
  a.self = own_.header().self;
  a.pid = identity_.pid;
  a.fd = own_.fd();
  a.slots = own_.geometry().slots;
  a.ring_bytes = own_.geometry().ring_bytes;
  a.cookie = context_.job_cookie;
  seal(a);
  std::memcpy(out, &a, sizeof a);
  *length = sizeof a;
  return ASHLAR_OK;
}

unsigned Interface::drain(Sender& sender) {
  return sender.ring.drain(kDrainBudget, [this, peer = sender.peer](std::uint8_t id, std::uint64_t h0, std::uint64_t h1,
                                                                    const std::byte* data, std::uint32_t length) {
    const ashlar_am am{.h0 = h0, .h1 = h1, .data = data, .length = length, .peer = peer, .id = id};
    context_.deliver(context_.lane_context, &am);
  });
}

unsigned Interface::progress() {
  unsigned events = 0;
  for (std::size_t i = 0; i < polled_.size(); ++i) events += drain(*polled_[i]);
  if (own_.header().attention.load(std::memory_order_relaxed) != 0) [[unlikely]]
    events += attend();
  if (busy_) [[unlikely]]
    events += advance();
  if (polled_.size() > config_.polled_rings || !unpolled_.empty()) [[unlikely]]
    events += look_at_unpolled();
  if (events == 0 && ++idle_calls_ % kUpkeepEvery == 0) [[unlikely]]
    upkeep();
  return events;
}

// Many rings: those without news for a while are no longer polled; their senders ring a bell instead. A sender that
// published just before it could see the flag is found by looking at one unpolled ring in every call.
unsigned Interface::look_at_unpolled() {
  if (++calls_with_many_ % kThinOutEvery == 0) thin_out();
  if (unpolled_.empty()) return 0;
  if (next_unpolled_ >= unpolled_.size()) next_unpolled_ = 0;
  Sender& sender = *unpolled_[next_unpolled_++];
  if (!sender.ring.has_news()) return 0;
  poll_again(sender);
  return drain(sender);
}

void Interface::thin_out() {
  for (std::size_t i = polled_.size(); i-- > 0 && polled_.size() > config_.polled_rings;) {
    Sender& sender = *polled_[i];
    if (sender.ring.delivered_since_last_look()) {
      sender.quiet = 0;
    } else if ((sender.quiet += kThinOutEvery) > kQuietPolls) {
      sender.slot->cold.store(1, std::memory_order_relaxed);
      unpolled_.push_back(&sender);
      polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Interface::poll_again(Sender& sender) {
  if (std::erase(unpolled_, &sender) == 0) return;
  sender.slot->cold.store(0, std::memory_order_relaxed);
  sender.quiet = 0;
  polled_.push_back(&sender);
}

unsigned Interface::attend() {
  SegmentHeader& head = own_.header();
  const std::uint64_t what = head.attention.exchange(0, std::memory_order_acq_rel);
  if (what & kAttendSlots) {
    for (std::uint32_t word = 0; word * 64 < own_.geometry().slots; ++word) {
      if (head.bells[word].load(std::memory_order_relaxed) == 0) continue;
      for (std::uint64_t bits = head.bells[word].exchange(0, std::memory_order_acq_rel); bits != 0; bits &= bits - 1) {
        attend_slot(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }
  if (what & kAttendCopies) {
    exposed_.collect();
    update_busy();
  }
  return 1;
}

void Interface::attend_slot(std::uint32_t index) {
  if (index >= senders_.size()) return;
  const std::uint32_t state = own_.slot(index).state.load(std::memory_order_acquire);
  if (!senders_[index] && (state == kReady || state == kClosing)) activate(index);
  if (!senders_[index]) return;
  Sender& sender = *senders_[index];
  if (sender.peer == ASHLAR_NOBODY) hear_stranger(sender);
  poll_again(sender);
  if (state == kClosing && !sender.closing) {
    sender.closing = true;
    ++closing_;
  }
}

void Interface::activate(std::uint32_t index) {
  Slot& slot = own_.slot(index);
  auto sender = std::make_unique<Sender>();
  sender->slot = &slot;
  sender->index = index;
  sender->nonce = slot.claim.load(std::memory_order_relaxed);
  Endpoint* const known = endpoint_of(sender->nonce);
  sender->peer = known ? known->peer : number_of(slot);
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(own_.geometry().ring_bytes / sizeof(Line)));
  sender->ring.attach(own_.ring(index), shift, &slot);
  if (known) {
    known->inbound = &sender->ring;
    known->inbound_slot = &slot;
  }
  if (!known && slot.pid_namespace == identity_.pid_namespace) {
    // Dead already: its last messages are still in the ring and the upkeep finds the death.
    if (!watch_.add(sender->nonce, slot.pid, slot.start_time)) dead_.push_back(sender->nonce);
  }
  polled_.push_back(sender.get());
  show(host_, sender->ring);
  senders_[index] = std::move(sender);
  if (senders_[index]->peer == ASHLAR_NOBODY) hear_stranger(*senders_[index]);
  count(counters.rings);
  count(counters.ring_bytes, own_.geometry().ring_bytes);
}

std::uint32_t Interface::number_of(const Slot& slot) const {
  const bool own_job = slot.job[0] == context_.job[0] && slot.job[1] == context_.job[1];
  if (own_job || !ASHLAR_HAS(&context_, peer_of) || context_.peer_of == nullptr) return slot.rank;
  return context_.peer_of(context_.lane_context, slot.job, slot.rank);
}

/// The process behind the ring is known (again), by this number.
void Interface::adopt(Sender& sender, std::uint32_t peer) {
  const bool stranger = sender.peer == ASHLAR_NOBODY;
  sender.peer = peer;
  if (!stranger) return;
  std::erase(strangers_, &sender);
  sender.slot->cold.store(0, std::memory_order_relaxed);
  polled_.push_back(&sender);
}

/// The process behind the ring is not known any more: it rings its bell before it is heard again.
void Interface::disown(Sender& sender) {
  if (sender.peer == ASHLAR_NOBODY) return;
  while (drain(sender) > 0) {
  }
  sender.peer = ASHLAR_NOBODY;
  std::erase(polled_, &sender);
  std::erase(unpolled_, &sender);
  sender.slot->cold.store(1, std::memory_order_relaxed);
  strangers_.push_back(&sender);
}

/// What a process sends that the kernel does not know is for a communicator that is gone here: it is dropped.
void Interface::hear_stranger(Sender& sender) {
  if (const std::uint32_t peer = number_of(*sender.slot); peer != ASHLAR_NOBODY) {
    if (std::find(strangers_.begin(), strangers_.end(), &sender) != strangers_.end())
      adopt(sender, peer);
    else
      sender.peer = peer;
    return;
  }
  std::erase(polled_, &sender);
  if (std::find(strangers_.begin(), strangers_.end(), &sender) == strangers_.end()) {
    sender.slot->cold.store(1, std::memory_order_relaxed);
    strangers_.push_back(&sender);
  }
  const auto drop = [](std::uint8_t, std::uint64_t, std::uint64_t, const std::byte*, std::uint32_t) {};
  while (sender.ring.drain(kDrainBudget, drop) > 0) {
  }
}

bool Interface::any_news() const {
  const auto news = [](const Sender* s) { return s->ring.has_news(); };
  return own_.header().attention.load(std::memory_order_relaxed) != 0 ||
         std::any_of(polled_.begin(), polled_.end(), news) || std::any_of(unpolled_.begin(), unpolled_.end(), news);
}

bool Interface::anything_new() const {
  return (in_background() ? !gets_.empty() || !vectors_.empty() || requesting_ > 0 : busy_) || any_news();
}

void Interface::rest(bool resting) {
  if (resting) {
    for (const auto& sender : senders_) {
      if (sender) sender->ring.report();
    }
  }
  own_.header().rests.fetch_add(1, std::memory_order_release);
}

// Of the sender's own records, which it alone writes: the owner may be gone.
ashlar_result Interface::fate(const Endpoint& ep, std::uint32_t ids, std::uint64_t h0, std::uint64_t h1) const {
  if (!ep.owner) return ASHLAR_PENDING;
  const std::uint32_t rests = ep.owner->rests.load(std::memory_order_acquire);
  if (rests % 2 == 0 || any_news()) return ASHLAR_PENDING;
  const Outbound& out = ep.way == Endpoint::Way::kDead ? ep.out_before_end : ep.out;
  bool unread = !out.attached();
  if (!unread) {
    out.revisit(ep.slot->consumed.load(std::memory_order_acquire),
                [&](std::uint8_t id, std::uint64_t word0, std::uint64_t word1) {
                  unread = unread || ((ids >> id & 1) != 0 && word0 == h0 && word1 == h1);
                });
  }
  if (ep.owner->rests.load(std::memory_order_acquire) != rests) return ASHLAR_PENDING;
  return unread ? ASHLAR_AGAIN : ASHLAR_OK;
}

// From the first call on every sleep is one for descriptors, too.
int Interface::wake_fd() {
  if (own_.header().unreachable.load(std::memory_order_relaxed) != 0) return -1;
  return wake_socket_.open(nonce_);
}

ashlar_result Interface::arm() {
  SegmentHeader& head = own_.header();
  const std::uint32_t how = wake_socket_.is_open() ? std::uint32_t{kForDescriptors} : 0;
  // Another thread may sleep on this already: what keeps this one from it must not take its wake-up away.
  std::uint32_t before = kAwake;
  if (in_background() && is_dormant()) {
    head.sleeping.compare_exchange_strong(before, kDormant | how, std::memory_order_relaxed);
  } else {
    const Sleeping state = in_background() ? kAsleepInBackground : kAsleep;
    before = head.sleeping.exchange(state | how, std::memory_order_relaxed);
    if ((before & kSleepState) == kAsleep) head.sleeping.store(kAsleep | how, std::memory_order_relaxed);
  }
  // Should the barrier be refused all of a sudden, then a wake-up may be missed; sleeps are bounded.
  if (!barriers_ || !barrier_everywhere()) full_fence();
  if (anything_new()) {
    if (before == kAwake) head.sleeping.store(kAwake, std::memory_order_relaxed);
    return ASHLAR_AGAIN;
  }
  count(counters.sleeps);
  return ASHLAR_OK;
}

void Interface::disarm() {
  own_.header().sleeping.store(kAwake, std::memory_order_relaxed);
  if (wake_socket_.is_open() && !wake_socket_.clear()) {
    count(counters.turned_away);
    own_.header().unreachable.store(1, std::memory_order_relaxed);
  }
  if (now_ns() >= next_upkeep_) upkeep();
}

namespace {

// The kernel of the system copies: what is written is there when the call returns. It has no atomic operations.
void attributes(ashlar_iface*, ashlar_iface_attributes* out) {
  if (ASHLAR_HAS(out, put_completion)) out->put_completion = ASHLAR_PUT_AT_DONE;
  if (ASHLAR_HAS(out, pieces_most)) out->pieces_most = kMostPieces;
}

constexpr ashlar_iface_ops functions() {
  ashlar_iface_ops all = plugin::interface_functions<Interface, Endpoint>();
  all.rest = [](ashlar_iface* i, int resting) { static_cast<Interface*>(i)->rest(resting != 0); };
  all.attributes = attributes;
  all.forget = [](ashlar_iface* i, std::uint32_t peer) { static_cast<Interface*>(i)->forget(peer); };
  return all;
}

}  // namespace

constexpr ashlar_iface_ops kInterfaceOps = functions();

}  // namespace ashlar::shm

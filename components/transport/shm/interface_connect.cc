#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "components/transport/shm/interface.h"
#include "components/transport/shm/pvars.h"
#include "components/transport/shm/single_copy.h"
#include "framework/base/clock.h"
#include "framework/base/shared_file.h"

namespace ashlar::shm {
namespace {

// What a message and a copy cost within a node, roughly; protocol switches only compare.
constexpr float kLatencyNs = 150;
constexpr float kCopyBytesPerNs = 12;
constexpr float kGetBytesPerNs = 20;
constexpr std::uint64_t kGetFromCrowded = 16 << 10;

// How long a peer that cannot be reached may take to end. It has lost its memory already, which is what takes long.
constexpr int kEndsWithinMs = 1000;

}  // namespace

Endpoint* Interface::endpoint_of(std::uint64_t nonce) const {
  for (const auto& ep : endpoints_) {
    if (ep->nonce == nonce) return ep.get();
  }
  return nullptr;
}

ashlar_result Interface::connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out) {
  auto ep = std::make_unique<Endpoint>();
  static_cast<ashlar_endpoint&>(*ep) = ashlar_endpoint{};
  const ashlar_result parsed = parse(host_, peer, address, length, &ep->address);
  if (parsed != ASHLAR_OK) return parsed;
  if (ep->address.node != identity_.node) {
    const ashlar_fact whose = {.name = "peer", .text = nullptr, .number = peer};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "shm.other_node", &whose, 1);
  }
  ep->ops = &kEndpointOps;
  ep->peer = peer;
  ep->iface = this;
  ep->nonce = ep->address.nonce;
  ep->max_short = kMaxShort;
  ep->max_bcopy = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min(config_.max_bcopy, ep->address.ring_bytes / 4 - 128), kMaxShort));
  ep->latency_ns = kLatencyNs;
  ep->bandwidth_copy = kCopyBytesPerNs;
  ep->capabilities = ASHLAR_CAP_WAKE_WORD | ASHLAR_CAP_REST;
  const ashlar_result reached = reach(*ep);
  if (reached != ASHLAR_OK) {
    // A process that ends loses its descriptors and its socket first. Then its end is the reason, and not what is
    // missing.
    const bool ended = reached != -ASHLAR_ERR_NO_MEM && watch_.ends_within(ep->nonce, kEndsWithinMs);
    unwatch(ep->nonce);
    if (!ended) return reached;
    return has_ended(*ep);
  }
  // A sender that was known by its own number only has now the kernel's.
  for (const auto& s : senders_) {
    if (!s || s->nonce != ep->nonce || s->closing) continue;
    adopt(*s, peer);
    ep->inbound = &s->ring;
    ep->inbound_slot = s->slot;
  }
  *out = ep.get();
  endpoints_.push_back(std::move(ep));
  return ASHLAR_OK;
}

ashlar_result Interface::has_ended(const Endpoint& ep) const {
  const ashlar_fact whose[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "pid", .text = nullptr, .number = ep.address.pid}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "shm.ended", whose, std::size(whose));
}

ashlar_result Interface::reach(Endpoint& ep) {
  const Address& a = ep.address;
  if (kShareMapping && a.pid == identity_.pid && a.pid_namespace == identity_.pid_namespace) {
    ep.segment.attach_own_process(a);
    ep.pid = a.pid;
    return finish_attach(ep);
  }
  if (a.pid_namespace != identity_.pid_namespace) return request_descriptor(ep, ENOENT);
  // Watched first: from here on the pid cannot be reused unnoticed, and the mark in the memory says whose it is.
  if (!watch_.add(ep.nonce, a.pid, 0)) {
    return has_ended(ep);
  }
  ep.pid = a.pid;
  Descriptor fd(open_shared_file_of(a.pid, a.fd));
  if (!fd) return request_descriptor(ep, errno);
  const ashlar_result attached = ep.segment.attach(host_, std::move(fd), a);
  return attached == ASHLAR_OK ? finish_attach(ep) : attached;
}

ashlar_result Interface::request_descriptor(Endpoint& ep, int why_not_directly) {
  const int error = config_.descriptor_passing ? ep.request.begin(ep.nonce, ep.address.cookie) : ENOTSUP;
  if (error != 0 && error != EAGAIN) {
    const std::string directly = std::strerror(why_not_directly);  // strerror() has one buffer for unknown numbers
    const ashlar_fact reasons[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                                   {.name = "pid", .text = nullptr, .number = ep.address.pid},
                                   {.name = "proc", .text = directly.c_str(), .number = 0},
                                   {.name = "socket", .text = std::strerror(error), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "shm.unreachable", reasons, std::size(reasons));
  }
  ep.request_sent = error == 0;
  ep.request_until = now_ns() + config_.connect_timeout;
  ++requesting_;
  update_busy();
  return ASHLAR_OK;  // sends are put off until the peer, in its progress, has passed the descriptor
}

// True when the request is over: answered, refused or given up.
bool Interface::advance_request(Endpoint& ep) {
  Descriptor fd;
  int error = 0;
  if (!ep.request_sent) {
    error = ep.request.begin(ep.nonce, ep.address.cookie);
    ep.request_sent = error == 0;
  }
  if (error == 0) error = ep.request.take(&fd);
  if (error == EAGAIN && now_ns() < ep.request_until) return false;
  ashlar_result r = ASHLAR_OK;
  if (error == 0) {
    // Another pid namespace shows the process under another number, or not at all.
    if (ep.address.pid_namespace != identity_.pid_namespace) {
      ep.pid = ep.request.owner();
      if (ep.pid > 0) watch_.add(ep.nonce, ep.pid, 0);
    }
    r = ep.segment.attach(host_, std::move(fd), ep.address);
    if (r == ASHLAR_OK) r = finish_attach(ep);
  }
  ep.request = DescriptorRequest();
  if (error == 0 && r == ASHLAR_OK) return true;
  ep.way = Endpoint::Way::kDead;
  char reason[160];
  std::snprintf(reason, sizeof reason, "process %d did not pass the descriptor of its shared memory (%s)",
                ep.address.pid,
                error == 0 ? "it could not be attached" : std::strerror(error == EAGAIN ? ETIMEDOUT : error));
  context_.failed(context_.lane_context, ep.peer, reason);
  return true;
}

ashlar_result Interface::finish_attach(Endpoint& ep) {
  ep.owner = &ep.segment.header();
  const ashlar_result claimed = claim_slot(ep);
  if (claimed != ASHLAR_OK) return claimed;
  ep.fence_after_publish = !barriers_ || ep.owner->senders_fence != 0;
  if (ep.owner->net_namespace != identity_.net_namespace) ep.owner->unreachable.store(1, std::memory_order_relaxed);
  ep.way = Endpoint::Way::kAttached;
  if (ep.pid > 0) ep.capabilities |= ASHLAR_CAP_FAILURE;
  prove_single_copy(ep);
  return ASHLAR_OK;
}

ashlar_result Interface::claim_slot(Endpoint& ep) {
  const std::uint32_t slots = ep.segment.geometry().slots;
  for (std::uint32_t n = 0; n < slots; ++n) {
    const std::uint32_t i = (context_.local_rank + n) % slots;
    Slot& slot = ep.segment.slot(i);
    std::uint64_t free = 0;
    if (slot.claim.load(std::memory_order_relaxed) != 0 ||
        !slot.claim.compare_exchange_strong(free, nonce_, std::memory_order_acq_rel)) {
      continue;
    }
    slot.start_time = identity_.start_time;
    slot.pid = identity_.pid;
    slot.pid_namespace = identity_.pid_namespace;
    slot.rank = context_.self;
    slot.job[0] = context_.job[0];
    slot.job[1] = context_.job[1];
    slot.cold.store(0, std::memory_order_relaxed);
    slot.looks_for_posts.store(0, std::memory_order_relaxed);
    slot.state.store(kClaimed, std::memory_order_release);
    ep.slot = &slot;
    ep.slot_index = i;
    return ASHLAR_OK;
  }
  const ashlar_fact taken[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "count", .text = nullptr, .number = slots},
                               {.name = "setting", .text = "transport.shm.extra_rings", .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "shm.no_ring", taken, std::size(taken));
}

// A single copy is offered only after it has worked, in each direction, for this pair.
void Interface::prove_single_copy(Endpoint& ep) {
  char subject[32], because[200];
  std::snprintf(subject, sizeof subject, "peer %u", ep.peer);
  if (!config_.single_copy || ep.pid <= 0) {
    host_.record("transport", subject, "shm, large messages through rings",
                 config_.single_copy ? "the process number is not visible here" : "single copies are switched off",
                 nullptr, "transport.shm.single_copy");
    return;
  }
  std::uint64_t seen = 0;
  const int read_error = read_from(ep.pid, &seen, ep.address.self + offsetof(SegmentHeader, nonce), sizeof seen);
  const auto slot_offset =
      static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(ep.slot) - reinterpret_cast<std::byte*>(ep.owner));
  const int write_error =
      write_to(ep.pid, &nonce_, ep.address.self + slot_offset + offsetof(Slot, proof), sizeof nonce_);
  const bool may_read = read_error == 0 && seen == ep.nonce;
  ep.may_write = write_error == 0 && ep.slot->proof.load(std::memory_order_relaxed) == nonce_;
  if (may_read) {
    ep.capabilities |= ASHLAR_CAP_GET;
    ep.bandwidth_get = kGetBytesPerNs;
    // A piece needs both processes on a core; with fewer cores than processes one copy by one of them is better early.
    const std::uint64_t from = context_.oversubscribed ? std::min(config_.get_from, kGetFromCrowded) : config_.get_from;
    ep.get_from = static_cast<std::uint32_t>(std::min<std::uint64_t>(from, ~0u));
  }
  // A receive is posted by one side and written by the other: what is proved here stands for both.
  if (ep.may_write) ep.capabilities |= ASHLAR_CAP_PUT | ASHLAR_CAP_POST;
  std::snprintf(because, sizeof because, "process_vm_readv: %s, process_vm_writev: %s",
                may_read     ? "proved"
                : read_error ? std::strerror(read_error)
                             : "read something else",
                ep.may_write  ? "proved"
                : write_error ? std::strerror(write_error)
                              : "wrote somewhere else");
  host_.record("transport", subject, may_read ? "shm, single copy" : "shm, large messages through rings", because,
               nullptr, "transport.shm.single_copy");
}

ashlar_result Interface::make_room(Endpoint& ep, std::uint32_t lines, Line** line) {
  if (ep.way == Endpoint::Way::kDead) {
    return has_ended(ep);
  }
  if (ep.way == Endpoint::Way::kRequesting) return ASHLAR_AGAIN;
  if (!ep.out.attached()) {
    const ashlar_result claimed = ep.segment.claim_ring(host_, ep.slot_index);
    if (claimed != ASHLAR_OK) return claimed;
    const auto in_ring = static_cast<std::uint32_t>(ep.address.ring_bytes / sizeof(Line));
    ep.dirty = std::make_unique<std::uint64_t[]>((in_ring + 63) / 64);
    if (ep.slot->used_before) std::memset(ep.dirty.get(), 0xff, (in_ring + 63) / 64 * 8);
    ep.out.attach(ep.segment.ring(ep.slot_index), static_cast<std::uint32_t>(std::countr_zero(in_ring)), ep.slot,
                  ep.dirty.get());
    show(host_, ep.out);
    ep.slot->state.store(kReady, std::memory_order_release);
    attract(ep, /*cold=*/true);
  }
  *line = ep.out.reserve(lines);
  if (!*line) count(counters.full);
  return *line ? ASHLAR_OK : ASHLAR_AGAIN;
}

void Interface::disconnect(Endpoint& ep) {
  std::erase_if(gets_, [&ep](const Get& g) { return g.from == &ep; });
  std::erase_if(vectors_, [&ep](const VectorCopy& c) { return c.peer == &ep; });
  if (ep.way == Endpoint::Way::kRequesting) --requesting_;
  update_busy();
  if (ep.way == Endpoint::Way::kAttached) {
    if (ep.out.attached()) {
      ep.slot->state.store(kClosing, std::memory_order_release);
      attract(ep, /*cold=*/true);
    } else {
      ep.slot->state.store(kFree, std::memory_order_relaxed);
      ep.slot->claim.store(0, std::memory_order_release);
    }
  }
  if (ep.out.attached()) hide(host_, ep.out);
  const std::uint64_t nonce = ep.nonce;
  std::erase_if(endpoints_, [&ep](const auto& e) { return e.get() == &ep; });
  unwatch(nonce);
}

void Interface::forget(std::uint32_t peer) {
  const auto own = [peer](const std::unique_ptr<Endpoint>& e) { return e->peer == peer; };
  if (const auto ep = std::find_if(endpoints_.begin(), endpoints_.end(), own); ep != endpoints_.end()) disconnect(**ep);
  for (const auto& s : senders_)
    if (s && s->peer == peer) disown(*s);
}

// Unless the process still sends to this one.
void Interface::unwatch(std::uint64_t nonce) {
  for (const auto& s : senders_) {
    if (s && s->nonce == nonce) return;
  }
  watch_.remove(nonce);
}

}  // namespace ashlar::shm

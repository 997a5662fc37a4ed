#include <sched.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "components/transport/common/interface.h"
#include "framework/base/clock.h"
#include "framework/plugin/transport_fail.h"
#include "framework/plugin/transport_identity.h"

// Tagged messages, which the library matches. They leave in one row with the frames; a message belongs to the process
// whose address the library knows it from, so every receive and every claim names one.
namespace ashlar::network {
namespace {

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }
TagReceive& of(ashlar_tag_receive& user) { return *static_cast<TagReceive*>(user.own); }

}  // namespace

/// Above the tag, where the library does not say from whom a message is.
std::uint64_t Interface::sender_bits(std::uint32_t rank) const {
  return fabric_->senders_in_tags() ? std::uint64_t{rank} << fabric_->tag_bits() : 0;
}

/// What tells the library of a message; returns where its bytes belong.
std::byte* Interface::label(Buffer& buffer, std::uint64_t tag, std::uint64_t immediate, std::uint32_t length,
                            std::uint64_t proof) {
  buffer.length = length;
  buffer.tagged = true;
  buffer.tag = tag | sender_bits(context_.self);
  buffer.data = tag_data(immediate, length);
  if (!fabric_->senders_in_tags()) return buffer.bytes;
  const TagHead head = {.proof = proof, .data = buffer.data};
  std::memcpy(buffer.bytes, &head, sizeof head);
  buffer.length += static_cast<std::uint32_t>(sizeof head);
  return buffer.bytes + sizeof head;
}

/// A buffer for a tagged message to the peer; nullptr: there is no room.
Buffer* Interface::tag_buffer(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, std::uint32_t length) {
  Buffer* const buffer = (length <= kMaxShort ? *small_ : *large_).take();
  if (buffer == nullptr) return nullptr;
  buffer->what = Operation::What::kSend;
  buffer->peer = &peer;
  (void)label(*buffer, tag, immediate, length, peer.tag_proof);
  return buffer;
}

ashlar_result Interface::tag_send(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, ashlar_fill fill,
                                  void* argument, std::uint32_t length) {
  Buffer* const buffer = may_buffer(peer, length) ? tag_buffer(peer, tag, immediate, length) : nullptr;
  if (buffer == nullptr) return ASHLAR_AGAIN;
  std::byte* const payload = buffer->bytes + (buffer->length - length);
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, payload + done, length - done);
    if (n == 0) {
      buffer->pool->give_back(*buffer);
      return plugin::fail_too_short(host_, peer.peer, done, length);
    }
    done += n;
  }
  counters.tags_sent.add();
  pace_.expect();
  counters.sent_bytes.add(length);
  submit(peer, *buffer);
  return ASHLAR_OK;
}

ashlar_result Interface::tag_announce(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, const Frame& frame,
                                      const void* data) {
  Buffer* const first = buffer_for(peer, frame.length);
  if (first == nullptr) return ASHLAR_AGAIN;
  Buffer* const second = tag_buffer(peer, tag, immediate, 0);
  if (second == nullptr) {
    first->pool->give_back(*first);
    return ASHLAR_AGAIN;
  }
  first->frame() = frame;
  if (frame.length != 0) std::memcpy(first->payload(), data, frame.length);
  send(peer, *first, frame.length);
  counters.tags_sent.add();
  submit(peer, *second);
  return ASHLAR_OK;
}

TagReceive* Interface::new_tag(std::uint64_t tag, std::uint64_t ignored, ashlar_tag_receive* user) {
  auto* const made = new (std::nothrow) TagReceive;
  if (made == nullptr) return nullptr;
  made->what = Operation::What::kTag;
  made->tag = tag;
  made->ignored = ignored;
  made->user = user;
  user->own = made;
  tags_.push_back(made);
  return made;
}

void Interface::dispose(TagReceive& receive) {
  if (receive.region != nullptr) memory_.give_back(*receive.region, receive.length);
  if (receive.buffer != nullptr) receive.buffer->pool->give_back(*receive.buffer);
  if (receive.stage == TagReceive::Stage::kPosted && receive.peer != nullptr) counters.tag_receives.lower();
  List<TagReceive>::remove(&receive);
  delete &receive;
}

ashlar_result Interface::tag_receive(Endpoint& peer, std::uint64_t tag, std::uint64_t ignored, void* to,
                                     std::uint32_t length, ashlar_tag_receive* user) {
  if (counters.tag_receives.now.get() >= fabric_->tag_receives()) return ASHLAR_AGAIN;
  TagReceive* const receive = new_tag(tag | sender_bits(peer.peer), ignored, user);
  if (receive == nullptr) return ASHLAR_AGAIN;
  receive->peer = &peer;
  receive->at = peer.at;
  receive->to = to;
  counters.tag_receives.raise();
  if (fabric_->uses_known_memory() && length != 0) {
    receive->region = memory_.take(to, length, Fabric::kWritten);
    if (receive->region == nullptr) {
      dispose(*receive);
      return ASHLAR_AGAIN;
    }
    receive->description = receive->region->known.description;
  }
  receive->length = length;
  if (fabric_->post_tag(*receive) == Posted::kYes) {
    pace_.heat();
    return ASHLAR_PENDING;
  }
  dispose(*receive);  // whatever the library lacks, the kernel can match by itself
  return ASHLAR_AGAIN;
}

ashlar_result Interface::tag_claim(Endpoint* peer, std::uint64_t tag, std::uint64_t ignored, ashlar_tag_receive* user) {
  if (fabric_->senders_in_tags()) {
    constexpr std::uint32_t kAll = (1U << kSenderBits) - 1;
    TagReceive* const claim = peer != nullptr ? new_tag(tag | sender_bits(peer->peer), ignored, user)
                                              : new_tag(tag, ignored | sender_bits(kAll), user);
    if (claim == nullptr) return ASHLAR_AGAIN;
    counters.claims.add();
    claim->peer = peer;
    return claim_at_once(*claim);
  }
  std::vector<Endpoint*> all;
  if (peer != nullptr) {
    all.push_back(peer);
  } else {
    for (const auto& [nonce, one] : peers_) {
      if (one->token_in == 0 || one->at == kNoPath) continue;
      if (one->peer == ASHLAR_NOBODY) one->peer = plugin::number_of(context_, one->job, one->rank);
      if (one->peer != ASHLAR_NOBODY) all.push_back(one.get());
    }
  }
  TagReceive* const claim = all.empty() ? nullptr : new_tag(tag, ignored, user);
  if (claim == nullptr) return ASHLAR_AGAIN;
  counters.claims.add();
  claim->others = std::move(all);
  return peek(*claim);
}

/// Looks at the next of those that a claim has to look at. AGAIN: there is none, and the claim is gone.
ashlar_result Interface::peek(TagReceive& claim) {
  claim.stage = TagReceive::Stage::kPeek;
  while (!claim.others.empty()) {
    claim.peer = claim.others.back();
    claim.at = claim.peer != nullptr ? claim.peer->at : own_path_;
    const Posted posted = fabric_->post_tag(claim);
    // That nothing is there is told only when the library has looked.
    if (posted == Posted::kLater) return post_later(claim);
    claim.others.pop_back();
    if (posted == Posted::kYes) return ASHLAR_PENDING;
  }
  dispose(claim);
  return ASHLAR_AGAIN;
}

/// A claim where the library takes messages of all peers. AGAIN: there is none, and the claim is gone.
ashlar_result Interface::claim_at_once(TagReceive& claim) {
  if (ready_to_take(claim)) {
    const Fabric::Claimed claimed = fabric_->claim(claim);  // it may be over, and gone
    if (claimed == Fabric::Claimed::kYes) return ASHLAR_PENDING;
    if (claimed == Fabric::Claimed::kNone) {
      dispose(claim);
      return ASHLAR_AGAIN;
    }
  }
  return post_later(claim);
}

/// The message that a claim has found is received. Libraries that claim it with the peek may take it from a receive
/// that was posted before, and has not been given it yet; behind that one in the library's list, this receive cannot.
void Interface::take(TagReceive& claim) {
  if (!ready_to_take(claim) || fabric_->post_tag(claim) != Posted::kYes) {
    to_post_.push_back(&claim);
    return;
  }
  claim.looks = 0;
  taking_.push_back(&claim);
}

/// Gives a claim the memory that its message goes to. False: there is none now.
bool Interface::ready_to_take(TagReceive& claim) {
  claim.stage = TagReceive::Stage::kTake;
  if (claim.buffer == nullptr) claim.buffer = large_->take();
  if (claim.buffer == nullptr) return false;
  claim.to = claim.buffer->bytes;
  claim.length = claim.buffer->capacity;
  claim.description = claim.buffer->description;
  return true;
}

/// The library has no room for a claim, which is tried again in the next look.
ashlar_result Interface::post_later(TagReceive& claim) {
  to_post_.push_back(&claim);
  pace_.heat();
  return ASHLAR_PENDING;
}

/// Another receive may have taken what claims had found that get nothing now; or the library has not come to them yet,
/// if it has a thread of its own for that.
void Interface::give_up_claims() {
  for (TagReceive* claim : taking_) {
    if (++claim->looks != claim->patience) continue;
    claim->patience *= 2;
    fabric_->cancel(*claim);
  }
}

void Interface::post_waiting() {
  std::vector<TagReceive*> waiting;
  waiting.swap(to_post_);
  const bool in_steps = !fabric_->senders_in_tags();
  for (TagReceive* claim : waiting) in_steps && claim->stage == TagReceive::Stage::kTake ? take(*claim) : go_on(*claim);
}

/// A claim looks at the next peer, or has ended without a message.
void Interface::go_on(TagReceive& claim) {
  ashlar_tag_receive* const user = claim.user;
  const ashlar_tag_event nothing = {
      .result = ASHLAR_AGAIN, .peer = ASHLAR_NOBODY, .tag = 0, .immediate = 0, .length = 0, .data = nullptr};
  const ashlar_result result = fabric_->senders_in_tags() ? claim_at_once(claim) : peek(claim);
  if (result == ASHLAR_AGAIN && user != nullptr) user->done(user, &nothing);
}

/// The receive is over, and gone before its user is told, who may post it again.
void Interface::end(TagReceive& receive, const ashlar_tag_event& event) {
  std::erase(taking_, &receive);
  ashlar_tag_receive* const user = receive.user;
  Buffer* const buffer = std::exchange(receive.buffer, nullptr);
  dispose(receive);
  if (user != nullptr) user->done(user, &event);
  if (buffer != nullptr) buffer->pool->give_back(*buffer);
}

/// Whether a message is of the process that its tag names, where the library does not know; then the event names it.
bool Interface::is_proved(const TagReceive& receive, std::uint64_t tag, ashlar_tag_event* event) {
  if (!fabric_->senders_in_tags()) return true;
  const unsigned bits = fabric_->tag_bits();
  event->tag = tag & ~(~std::uint64_t{0} << bits);
  if (proving_) return receive.head.proof == tag_proof(record_.secret, record_.nonce);
  const auto found = tag_senders_.find(receive.head.proof);
  if (found == tag_senders_.end()) return false;
  Endpoint& sender = *found->second;
  if (receive.peer != nullptr && receive.peer != &sender) return false;
  if (sender.peer == ASHLAR_NOBODY) sender.peer = plugin::number_of(context_, sender.job, sender.rank);
  event->peer = sender.peer;
  return tag >> bits == sender.peer;
}

void Interface::tag_ended(TagReceive& receive, Fabric::TagEnd end_of, std::uint64_t tag, std::uint64_t data,
                          const std::string& reason) {
  if (closing_) return;
  using Stage = TagReceive::Stage;
  const std::uint32_t peer = receive.peer != nullptr ? receive.peer->peer : ASHLAR_NOBODY;
  ashlar_tag_event event = {.result = ASHLAR_OK,
                            .peer = peer,
                            .tag = tag,
                            .immediate = tag_immediate(data),
                            .length = tag_length(data),
                            .data = nullptr};
  bool stranger = false;
  switch (end_of) {
    case Fabric::TagEnd::kTaken:
      if (!is_proved(receive, tag, &event)) {
        counters.refused.add();
        if (receive.stage == Stage::kTake && receive.user != nullptr) return go_on(receive);
        // Another message may have passed it meanwhile, so the receive cannot wait on.
        stranger = true;
        break;
      }
      if (receive.stage == Stage::kPeek) {
        if (receive.user == nullptr) return end(receive, event);  // its user has given it up
        return take(receive);
      }
      if (receive.stage == Stage::kTake) {
        counters.claimed.add();
        event.data = receive.buffer->bytes;
      }
      counters.received_bytes.add(event.length);
      return end(receive, event);
    case Fabric::TagEnd::kNothing:
    case Fabric::TagEnd::kCancelled:
      if (receive.stage == Stage::kTake && receive.user != nullptr) {
        std::erase(taking_, &receive);
        receive.others.push_back(receive.peer);
        return go_on(receive);
      }
      if (receive.stage == Stage::kPeek && !receive.others.empty() && receive.user != nullptr) return go_on(receive);
      event.result = ASHLAR_AGAIN;
      return end(receive, event);
    case Fabric::TagEnd::kFailed:
      break;
  }
  const std::string why = stranger ? "a process that is not of the job sent one in its name" : reason;
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer},
                               {.name = "lower", .text = why.c_str(), .number = 0}};
  event.result = ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.tag", facts, std::size(facts));
  // A message that was met and cannot be received is lost.
  if ((receive.stage == Stage::kTake || stranger) && receive.peer != nullptr)
    fail(*receive.peer, "a message of it was lost in the library: " + why, Gone::kPerhaps);
  end(receive, event);
}

void Interface::tag_cancel(ashlar_tag_receive* user) {
  TagReceive& receive = of(*user);
  receive.cancelled = true;
  fabric_->cancel(receive);
  if (receive.peer != nullptr && receive.peer->way == Endpoint::Way::kFailed) give_up(receive);
}

/// The rest of its message does not come any more. Where the library keeps such a receive, its user is told all the
/// same.
void Interface::give_up(TagReceive& receive) {
  if (receive.user == nullptr || !fabric_->abandon(receive)) return;
  ashlar_tag_receive* const user = std::exchange(receive.user, nullptr);
  const ashlar_tag_event nothing = {
      .result = ASHLAR_AGAIN, .peer = receive.peer->peer, .tag = 0, .immediate = 0, .length = 0, .data = nullptr};
  user->done(user, &nothing);
}

void Interface::give_up_cancelled(const Endpoint& peer) {
  std::vector<TagReceive*> receives;
  for (TagReceive& receive : tags_)
    if (receive.peer == &peer && receive.cancelled) receives.push_back(&receive);
  for (TagReceive* receive : receives) give_up(*receive);
}

const ashlar_tag_ops kTagOps = {
    .size = sizeof kTagOps,
    .send = [](ashlar_endpoint* e, std::uint64_t tag, std::uint64_t immediate, ashlar_fill fill, void* argument,
               std::uint32_t length) -> ashlar_result {
      Endpoint& peer = self(e);
      if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
        return is_gone(peer);
      return peer.iface->tag_send(peer, tag, immediate, fill, argument, length);
    },
    .announce = [](ashlar_endpoint* e, std::uint64_t tag, std::uint64_t immediate, std::uint8_t id, std::uint64_t h0,
                   std::uint64_t h1, const void* data, std::uint32_t length) -> ashlar_result {
      Endpoint& peer = self(e);
      if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
        return is_gone(peer);
      if (length > peer.max_short) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_short);
      return peer.iface->tag_announce(peer, tag, immediate,
                                      next_frame(peer, id, h0, h1, static_cast<std::uint16_t>(length)), data);
    },
    .receive = [](ashlar_endpoint* e, std::uint64_t tag, std::uint64_t ignored, void* to, std::uint32_t length,
                  ashlar_tag_receive* user) -> ashlar_result {
      Endpoint& peer = self(e);
      if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
        return is_gone(peer);
      return peer.iface->tag_receive(peer, tag, ignored, to, length, user);
    },
    .claim = [](ashlar_iface* i, ashlar_endpoint* e, std::uint64_t tag, std::uint64_t ignored,
                ashlar_tag_receive* user) -> ashlar_result {
      return static_cast<Interface*>(i)->tag_claim(e != nullptr ? &self(e) : nullptr, tag, ignored, user);
    },
    .cancel = [](ashlar_iface* i, ashlar_tag_receive* user) { static_cast<Interface*>(i)->tag_cancel(user); }};

}  // namespace ashlar::network

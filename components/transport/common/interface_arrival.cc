#include <algorithm>
#include <iterator>

#include "components/transport/common/interface.h"
#include "components/transport/common/striped_reads.h"
#include "framework/plugin/transport_identity.h"

// What the library tells: what was sent, what was read, what has arrived.
namespace ashlar::network {
namespace {

/// How many messages of the sender are missing before the frame; less than 0: it is one of the past.
std::int32_t ahead(const Endpoint& peer, const Frame& frame) {
  const std::uint32_t expected = peer.number_in + (frame.kind == Kind::kMessage ? 1 : 0);
  return static_cast<std::int32_t>(frame.number - expected);
}

}  // namespace

/// Ends sends that have left, and starts others. All else waits for the next look, as nothing is delivered, and no
/// failure told, inside a send.
void Interface::make_room(Endpoint& peer) {
  fabric_->make_room();
  (void)flush(peer);
}

void Interface::sent(Buffer& buffer) {
  counters.under_way.lower();
  if (Endpoint* const peer = buffer.peer; peer != nullptr) {
    --peer->under_way;
    peer->bytes_out -= buffer.length;
    counters.buffered.lower(buffer.length);
  }
  buffer.pool->give_back(buffer);
}

void Interface::not_sent(Buffer& buffer, const std::string& reason) {
  Endpoint* const peer = buffer.peer;
  sent(buffer);
  // A first message may meet a connection that the peer has closed, and is sent again by the clock.
  if (peer != nullptr && peer->way == Endpoint::Way::kOpen && !peer->left && !closing_)
    fail(*peer, "a message to it was lost: " + reason, Gone::kPerhaps);
}

void Interface::transferred(Transfer& transfer) {
  if (!transfer.part)
    (transfer.what == Operation::What::kPut ? counters.put_bytes : counters.get_bytes).add(transfer.length);
  finish(transfer, ASHLAR_OK);
}

void Interface::not_transferred(Transfer& transfer, const std::string& reason) {
  if (transfer.rail != 0) {
    if (transfer.peer->striped != nullptr) transfer.peer->striped->note(reason);
    return finish(transfer, -ASHLAR_ERR_OTHER);
  }
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = transfer.peer->peer},
                               {.name = "lower", .text = reason.c_str(), .number = 0}};
  finish(transfer, transfer.what == Operation::What::kPut
                       ? ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.put", facts, std::size(facts))
                       : ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.get", facts, std::size(facts)));
}

/// Of a peer that nothing is sent to, its host says whether it is there: it may have closed a way that it had before.
void Interface::lost(Endpoint& peer, const std::string& reason) {
  if (peer.left || closing_) return;
  if (peer.way == Endpoint::Way::kOpen || (peer.token_in != 0 && peer.alive.family == 0))
    return fail(peer, "the process has ended, or the way to it is closed: " + reason, Gone::kYes);
  if (peer.token_in == 0) return;
  peer.was_there = true;
  peer.asked_at = 0;
  next_tick_ = 0;
}

void Interface::finish(Transfer& transfer, ashlar_result result) {
  transfer.rail == 0 ? counters.under_way.lower() : rails_.ended(transfer.rail);
  transfer.peer->transfers.erase(&transfer);
  if (is_bounded(transfer)) {
    transfer.peer->reading -= transfer.length;
    flush_later(*transfer.peer);
  }
  if (is_measured(transfer)) {
    if (result == ASHLAR_OK)
      transfer.peer->meter.over(transfer.length, now_ns(), kMeasuredFrom);
    else
      transfer.peer->meter.give_up(transfer.length);
  }
  ashlar_completion* const done = transfer.done;
  const std::shared_ptr<const void> keeps = transfer.keeps;  // the completion may be there
  dispose(transfer);
  if (done != nullptr && !closing_) done->done(done, result);
}

/// The library does not have it any more.
void Interface::dispose(Transfer& transfer) {
  if (transfer.rail == 0) fabric_->drop(transfer);
  if (transfer.region != nullptr && transfer.keeps == nullptr) memory_.give_back(*transfer.region, transfer.length);
  delete &transfer;
}

bool Interface::arrived(const std::byte* bytes, std::size_t length, Buffer* in) {
  if (length < sizeof(Frame) || closing_) return true;
  const auto& frame = *reinterpret_cast<const Frame*>(bytes);
  switch (frame.kind) {
    case Kind::kHello:
      greeted(bytes, length);
      break;
    case Kind::kWelcome:
      welcomed(bytes, length);
      break;
    case Kind::kTrial:
      if (proving_ && frame.token == record_.nonce) proved_ = frame.number;
      break;
    case Kind::kMessage:
    case Kind::kBye:
    case Kind::kWake:
    case Kind::kRailsWanted:
    case Kind::kRailsOffered:
    case Kind::kGivenUp:
      return arrived_in_session(bytes, length, in);
    default:
      counters.refused.add();
  }
  return true;
}

void Interface::damaged() { counters.refused.add(); }

bool Interface::arrived_in_session(const std::byte* bytes, std::size_t length, Buffer* in) {
  const auto& frame = *reinterpret_cast<const Frame*>(bytes);
  Endpoint* const peer = in != nullptr ? sender_of(frame) : nullptr;
  if (peer != nullptr && ahead(*peer, frame) > 0) [[unlikely]] {
    if (peer->out_of_order.empty()) peer->out_of_order_since = pace_.clock();
    peer->out_of_order.push_back({bytes, length, in});
    counters.out_of_order.add();
    return false;
  }
  deliver(bytes, length);
  if (peer != nullptr && !peer->out_of_order.empty()) [[unlikely]]
    deliver_next(*peer);
  return true;
}

/// What has waited for the frame that was just delivered.
void Interface::deliver_next(Endpoint& peer) {
  const auto is_next = [&peer](const OutOfOrder& one) {
    return ahead(peer, *reinterpret_cast<const Frame*>(one.bytes)) <= 0;
  };
  for (;;) {
    const auto next = std::find_if(peer.out_of_order.begin(), peer.out_of_order.end(), is_next);
    if (next == peer.out_of_order.end()) break;
    const OutOfOrder one = *next;
    peer.out_of_order.erase(next);
    deliver(one.bytes, one.length);
    fabric_->reuse(*one.in);
  }
  peer.out_of_order_since = pace_.clock();
}

void Interface::fail_missing(Endpoint& peer) {
  fail(peer, "message " + std::to_string(peer.number_in + 1) + " of it was lost on the way (" + fabric_->name() + ")",
       Gone::kPerhaps);
}

/// nullptr: it is of no session.
Endpoint* Interface::sender_of(const Frame& frame) {
  if (frame.token != last_token_) [[unlikely]] {
    const auto known = sessions_.find(frame.token);
    if (known == sessions_.end()) return nullptr;
    last_token_ = frame.token;
    last_sender_ = known->second;
  }
  return last_sender_;
}

/// Frames of a session, one behind the other.
void Interface::deliver(const std::byte* bytes, std::size_t size) {
  std::size_t at = 0;
  do {
    const auto& frame = *reinterpret_cast<const Frame*>(bytes + at);
    const std::size_t left = size - at - sizeof frame;
    const std::size_t length = length_in(frame.length, left);
    if (length > left) {
      counters.refused.add();
      return;
    }
    deliver(frame, static_cast<std::uint32_t>(length));
    at += framed(length);
  } while (at + sizeof(Frame) <= size);
}

void Interface::deliver(const Frame& frame, std::uint32_t length) {
  Endpoint* const sender = sender_of(frame);
  if (sender == nullptr) {
    counters.refused.add();
    return;
  }
  Endpoint& peer = *sender;
  const std::int32_t before = ahead(peer, frame);
  // Frames without a number of their own may come late.
  if (before > 0 || (before < 0 && frame.kind == Kind::kMessage)) [[unlikely]]
    return fail_missing(peer);
  if (frame.kind == Kind::kMessage) ++peer.number_in;
  if (frame.kind == Kind::kBye) {
    peer.left = true;
    return;
  }
  if (frame.kind != Kind::kMessage) [[unlikely]] {
    const auto* const payload = reinterpret_cast<const std::byte*>(&frame + 1);
    if (frame.kind == Kind::kRailsWanted) rails_wanted(peer, payload, length);
    if (frame.kind == Kind::kRailsOffered) rails_offered(peer, payload, length);
    if (frame.kind == Kind::kWake) peer.left = false;
    if (frame.kind == Kind::kGivenUp) fail(peer, "it has given this process up", Gone::kPerhaps);
    return;
  }
  if (peer.peer == ASHLAR_NOBODY) [[unlikely]] {
    peer.peer = plugin::number_of(context_, peer.job, peer.rank);
    if (peer.peer == ASHLAR_NOBODY) return;
  }
  counters.received.add();
  counters.received_bytes.add(length);
  const ashlar_am am{
      .h0 = frame.h0, .h1 = frame.h1, .data = &frame + 1, .length = length, .peer = peer.peer, .id = frame.id};
  context_.deliver(context_.lane_context, &am);
}

}  // namespace ashlar::network

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "components/transport/ofi/interface.h"
#include "framework/plugin/transport_identity.h"

// Completions: what was sent, what was read, what has arrived.
namespace ashlar::ofi {

unsigned Interface::take(const fi_cq_msg_entry& entry) {
  auto& operation = *static_cast<Operation*>(entry.op_context);
  switch (operation.what) {
    case Operation::What::kReceive:
      arrived(static_cast<Buffer&>(operation), entry.len);
      return 1;
    case Operation::What::kSend:
      sent(static_cast<Buffer&>(operation));
      return 0;
    case Operation::What::kRead:
      counters.get_bytes.add(static_cast<Read&>(operation).length);
      finish(static_cast<Read&>(operation), ASHLAR_OK);
      return 1;
  }
  return 0;
}

/// Ends sends whose completions are there, and starts others. All else waits for the next look, as nothing is
/// delivered, and no failure told, inside a send.
void Interface::make_room(Endpoint& peer) {
  std::array<fi_cq_msg_entry, 32> entries;
  const ssize_t count = fi_cq_read(provider_.completions, entries.data(), entries.size());
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_msg_entry& entry = entries[static_cast<std::size_t>(i)];
    if (static_cast<const Operation*>(entry.op_context)->what == Operation::What::kSend)
      (void)take(entry);
    else
      kept_.push_back(entry);
  }
  long error = 0;
  (void)flush(peer, &error);
}

unsigned Interface::take_error() {
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(provider_.completions, &entry, 0) < 1 || entry.op_context == nullptr) return 0;
  auto& operation = *static_cast<Operation*>(entry.op_context);
  Endpoint* const peer = operation.peer;
  const std::string reason = provider_.reason(entry);
  switch (operation.what) {
    case Operation::What::kReceive:
      // A frame that was too long, or cut off: whose it was, its sender's numbers tell.
      counters.refused.add();
      receive_again(static_cast<Buffer&>(operation));
      return 0;
    case Operation::What::kSend:
      sent(static_cast<Buffer&>(operation));
      // A first message may meet a connection that the peer has closed, and is sent again by the clock.
      if (peer != nullptr && peer->way == Endpoint::Way::kOpen && !peer->left && !closing_)
        fail(*peer, "a message to it was lost: " + reason);
      return 1;
    case Operation::What::kRead: {
      const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer->peer},
                                   {.name = "lower", .text = reason.c_str(), .number = 0}};
      finish(static_cast<Read&>(operation),
             ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "ofi.get", facts, std::size(facts)));
      return 1;
    }
  }
  return 0;
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

void Interface::finish(Read& read, ashlar_result result) {
  counters.under_way.lower();
  read.peer->reads.erase(&read);
  if (read.known != nullptr) fi_close(&read.known->fid);
  ashlar_completion* const done = read.done;
  delete &read;
  if (done != nullptr && !closing_) done->done(done, result);
}

void Interface::receive_again(Buffer& buffer) {
  const ssize_t error =
      fi_recv(provider_.endpoint, buffer.bytes, buffer.capacity, buffer.description, FI_ADDR_UNSPEC, &buffer.context);
  if (error != 0) to_receive_.push_back(&buffer);
}

void Interface::arrived(Buffer& buffer, std::size_t bytes) {
  if (bytes >= sizeof(Frame) && bytes <= buffer.capacity && !closing_) {
    switch (buffer.frame().kind) {
      case Kind::kHello:
        greeted(buffer, bytes);
        break;
      case Kind::kWelcome:
        welcomed(buffer, bytes);
        break;
      case Kind::kTrial:
        proved_ |= proving_ && buffer.frame().token == record_.nonce;
        break;
      case Kind::kMessage:
      case Kind::kBye:
      case Kind::kWake:
        deliver(buffer, bytes);
        break;
      default:
        counters.refused.add();
    }
  }
  receive_again(buffer);
}

/// Frames of a session, one behind the other.
void Interface::deliver(Buffer& buffer, std::size_t bytes) {
  std::size_t at = 0;
  do {
    const auto& frame = *reinterpret_cast<const Frame*>(buffer.bytes + at);
    const std::size_t left = bytes - at - sizeof frame;
    const std::size_t length = frame.length == kRest ? left : frame.length;
    if (length > left) {
      counters.refused.add();
      return;
    }
    deliver(frame, static_cast<std::uint32_t>(length));
    at += framed(length);
  } while (at + sizeof(Frame) <= bytes);
}

void Interface::deliver(const Frame& frame, std::uint32_t length) {
  if (frame.token != last_token_) [[unlikely]] {
    const auto known = sessions_.find(frame.token);
    if (known == sessions_.end()) {
      counters.refused.add();
      return;
    }
    last_token_ = frame.token;
    last_sender_ = known->second;
  }
  Endpoint& peer = *last_sender_;
  if (frame.kind == Kind::kMessage) ++peer.number_in;
  if (frame.number != peer.number_in) [[unlikely]] {
    const std::string missing = std::to_string(peer.number_in);
    return fail(peer, "message " + missing + " of it was lost on the way (" + provider_.name() + ")");
  }
  if (frame.kind == Kind::kBye) {
    peer.left = true;
    return;
  }
  if (frame.kind != Kind::kMessage) return;
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

}  // namespace ashlar::ofi

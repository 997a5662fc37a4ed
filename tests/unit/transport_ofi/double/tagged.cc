#include <algorithm>
#include <cstring>

#include "tests/unit/transport_ofi/double/objects.h"

// Tagged messages: directed receives, peeks that claim, cancelling.
namespace ofi_double {
namespace {

Endpoint& of(fid_ep* ep) { return *reinterpret_cast<Endpoint*>(ep); }

bool fits(const TaggedReceive& receive, const TaggedMessage& message) {
  return receive.from == message.from && ((receive.tag ^ message.tag) & ~receive.ignored) == 0;
}

bool has_bits(std::uint64_t tag) {
  const unsigned bits = ofi_double_settings.tag_bits;
  if (bits == 64 || tag >> bits == 0) return true;
  broken("a tag has more bits than the provider's");
  return false;
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void* description, std::uint64_t data, fi_addr_t to,
             std::uint64_t tag, void* context) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  Region* region = nullptr;
  if (!has_bits(tag) || !registered(endpoint, memory, length, description, FI_SEND, &region)) return -FI_EINVAL;
  ++ofi_double_seen.tagged;
  mark(context);
  endpoint.started.push_back(made(endpoint, Operation::What::kTagged, memory, length, to, region, context));
  endpoint.started.back().tag = tag;
  endpoint.started.back().data = data;
  return 0;
}

ssize_t receive(fid_ep* ep, void* memory, std::size_t length, void* description, fi_addr_t from, std::uint64_t tag,
                std::uint64_t ignored, void* context) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  Region* region = nullptr;
  if (length != 0 && !registered(endpoint, memory, length, description, FI_RECV, &region)) return -FI_EINVAL;
  if (from == FI_ADDR_UNSPEC) return broken("a tagged receive of any process"), -FI_EINVAL;
  mark(context);
  endpoint.receive({.from = endpoint.peers->at(from),
                    .tag = tag,
                    .ignored = ignored,
                    .memory = static_cast<std::byte*>(memory),
                    .length = length,
                    .region = region,
                    .context = context,
                    .wait = ofi_double_settings.slow_receives});
  return 0;
}

ssize_t receive_message(fid_ep* ep, const fi_msg_tagged* message, std::uint64_t flags) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  if ((flags & FI_PEEK) != 0) {
    ++ofi_double_seen.peeks;
    mark(message->context);
    endpoint.started.push_back(
        made(endpoint, Operation::What::kPeek, nullptr, 0, message->addr, nullptr, message->context));
    endpoint.started.back().tag = message->tag;
    endpoint.started.back().ignored = message->ignore;
    return 0;
  }
  return broken("a tagged receive by message that is no peek"), -FI_EINVAL;
}

/// The verdict comes later, and the receive may be taken by a message until then.
ssize_t cancel(fid* object, void* context) {
  const auto locked = guard();
  auto& endpoint = *reinterpret_cast<Endpoint*>(object);
  ++ofi_double_seen.cancels;
  endpoint.started.push_back(made(endpoint, Operation::What::kCancel, nullptr, 0, 0, nullptr, context));
  return 0;
}

}  // namespace

void Endpoint::give(const TaggedReceive& receive, const TaggedMessage& message) {
  if (receive.region != nullptr) --receive.region->used;
  const std::size_t length = std::min(receive.length, message.bytes.size());
  if (length != 0) std::memcpy(receive.memory, message.bytes.data(), length);
  finish(receive.context, FI_RECV | FI_TAGGED, length, message.bytes.size() > receive.length ? FI_ETRUNC : 0,
         message.tag, message.data);
}

void Endpoint::receive(const TaggedReceive& receive) {
  const auto found = std::find_if(tagged.begin(), tagged.end(), [&](const auto& m) { return fits(receive, m); });
  if (found == tagged.end() || receive.wait != 0) {
    tagged_receives.push_back(receive);
    return;
  }
  const TaggedMessage message = std::move(*found);
  tagged.erase(found);
  give(receive, message);
}

void Endpoint::look_for_messages() {
  std::deque<TaggedReceive> all;
  all.swap(tagged_receives);
  for (TaggedReceive& one : all) {
    const bool waits = one.wait != 0;
    if (waits) --one.wait;
    waits ? receive(one) : tagged_receives.push_back(one);
  }
}

void Endpoint::deliver(TaggedMessage&& message) {
  const auto found = std::find_if(tagged_receives.begin(), tagged_receives.end(),
                                  [&](const auto& receive) { return receive.wait == 0 && fits(receive, message); });
  if (found == tagged_receives.end()) {
    tagged.push_back(std::move(message));
    return;
  }
  const TaggedReceive receive = *found;
  tagged_receives.erase(found);
  give(receive, message);
}

void Endpoint::peek(const Operation& operation) {
  const TaggedReceive wanted = {.from = operation.to,
                                .tag = operation.tag,
                                .ignored = operation.ignored,
                                .memory = nullptr,
                                .length = 0,
                                .region = nullptr,
                                .context = operation.context};
  const auto found = std::find_if(tagged.begin(), tagged.end(), [&](const auto& m) { return fits(wanted, m); });
  if (found == tagged.end()) return finish(operation.context, FI_RECV | FI_TAGGED, 0, FI_ENOMSG, operation.tag);
  finish(operation.context, FI_RECV | FI_TAGGED, found->bytes.size(), 0, found->tag, found->data);
}

void Endpoint::cancel(const Operation& operation) {
  const auto found = std::find_if(tagged_receives.begin(), tagged_receives.end(),
                                  [&](const auto& receive) { return receive.context == operation.context; });
  if (found == tagged_receives.end()) return;  // it has a message
  const TaggedReceive receive = *found;
  tagged_receives.erase(found);
  if (receive.region != nullptr) --receive.region->used;
  finish(receive.context, FI_RECV | FI_TAGGED, 0, FI_ECANCELED, receive.tag);
}

void give_tag_functions(Endpoint& endpoint) {
  static fi_ops_tagged tags = table<fi_ops_tagged>([](auto& made) {
    made.recv = receive;
    made.recvmsg = receive_message;
    made.senddata = send;
  });
  static fi_ops_ep operations = table<fi_ops_ep>([](auto& made) {
    made.cancel = cancel;
    made.setopt = set_option;
  });
  endpoint.fid.tagged = &tags;
  endpoint.fid.ops = &operations;
}

}  // namespace ofi_double

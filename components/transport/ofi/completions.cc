#include <array>
#include <cstring>
#include <utility>

#include "components/transport/common/endpoint.h"
#include "components/transport/common/registrations.h"
#include "components/transport/ofi/provider.h"

// What libfabric is given, and what its completion queue tells.
namespace ashlar::ofi {
namespace {

using network::Buffer;
using network::Operation;
using network::TagReceive;
using network::Transfer;

constexpr int kEntriesAtOnce = 32;
constexpr int kLooksAtOnce = 4;
static_assert(sizeof(fi_context2) <= sizeof(Operation::library));

Operation& operation_of(void* context) { return *static_cast<Operation*>(context); }

}  // namespace

Provider::Posted Provider::posted(ssize_t error) {
  if (error == 0) [[likely]]
    return Posted::kYes;
  last_error_ = error;
  return error == -FI_EAGAIN ? Posted::kLater : Posted::kFailed;
}

Provider::Posted Provider::post(Buffer& buffer, network::Path to) {
  if (buffer.tagged)
    return posted(fi_tsenddata(endpoint_, buffer.bytes, buffer.length, buffer.description, buffer.data, to, buffer.tag,
                               &buffer.library));
  return posted(fi_send(endpoint_, buffer.bytes, buffer.length, buffer.description, to, &buffer.library));
}

Provider::Posted Provider::post_tag(TagReceive& receive) {
  using Stage = TagReceive::Stage;
  if (receive.stage != Stage::kPeek)
    return posted(fi_trecv(endpoint_, receive.to, receive.length, receive.description, receive.at, receive.tag,
                           receive.ignored, &receive.library));
  fi_msg_tagged message = {};
  message.addr = receive.at;
  message.tag = receive.tag;
  message.ignore = receive.ignored;
  message.context = &receive.library;
  return posted(fi_trecvmsg(endpoint_, &message, FI_PEEK));
}

void Provider::cancel(TagReceive& receive) { (void)fi_cancel(&endpoint_->fid, &receive.library); }

Provider::Posted Provider::post(Transfer& transfer, network::Path peer) {
  std::uint64_t key = 0;
  std::memcpy(&key, transfer.there.bytes, sizeof key);
  void* const description = transfer.region != nullptr ? transfer.region->known.description : nullptr;
  const std::uint64_t there = transfer.there.base + transfer.offset;
  if (transfer.what == Operation::What::kPut)
    return posted(write(transfer.here, transfer.length, description, peer, there, key, &transfer.library));
  return posted(fi_read(endpoint_, transfer.here, transfer.length, description, peer, there, key, &transfer.library));
}

/// A put whose end is told when the peer's processors find the bytes.
ssize_t Provider::write(void* here, std::size_t bytes, void* description, network::Path peer, std::uint64_t there,
                        std::uint64_t key, void* context) {
  const iovec from{.iov_base = here, .iov_len = bytes};
  const fi_rma_iov to{.addr = there, .len = bytes, .key = key};
  fi_msg_rma message = {};
  message.msg_iov = &from;
  message.desc = &description;
  message.iov_count = 1;
  message.addr = peer;
  message.rma_iov = &to;
  message.rma_iov_count = 1;
  message.context = context;
  return fi_writemsg(endpoint_, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

bool Provider::inject(const std::byte* bytes, std::size_t length, network::Path to) {
  return fi_inject(endpoint_, bytes, length, to) == 0;
}

void Provider::make_room() {
  std::array<fi_cq_tagged_entry, kEntriesAtOnce> entries;
  const ssize_t count = fi_cq_read(completions_, entries.data(), entries.size());
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_tagged_entry& entry = entries[static_cast<std::size_t>(i)];
    if (operation_of(entry.op_context).what == Operation::What::kSend)
      (void)take(entry);
    else
      kept_.push_back(entry);
  }
}

unsigned Provider::look() {
  unsigned handled = 0;
  for (int looks = 0; looks < kLooksAtOnce; ++looks) {
    // Those that a send has read are older than what the queue has, and so are those that a send of their handlers
    // reads.
    if (!kept_.empty()) {
      std::vector<fi_cq_tagged_entry> kept;
      kept.swap(kept_);
      for (const fi_cq_tagged_entry& entry : kept) handled += take(entry);
      continue;
    }
    std::array<fi_cq_tagged_entry, kEntriesAtOnce> entries;
    const ssize_t count = fi_cq_read(completions_, entries.data(), entries.size());
    if (count == -FI_EAVAIL) {
      handled += take_error();
      continue;
    }
    for (ssize_t i = 0; i < count; ++i) handled += take(entries[static_cast<std::size_t>(i)]);
    if (count < kEntriesAtOnce) break;
  }
  if (!to_receive_.empty()) {
    std::vector<Buffer*> again;
    again.swap(to_receive_);
    for (Buffer* buffer : again) receive(*buffer);
  }
  return handled;
}

unsigned Provider::take(const fi_cq_tagged_entry& entry) {
  Operation& operation = operation_of(entry.op_context);
  switch (operation.what) {
    case Operation::What::kReceive:
      return received(static_cast<Buffer&>(operation), entry);
    case Operation::What::kSend:
      events_->sent(static_cast<Buffer&>(operation));
      return 0;
    case Operation::What::kRead:
    case Operation::What::kPut:
      events_->transferred(static_cast<Transfer&>(operation));
      return 1;
    case Operation::What::kTag:
      events_->tag_ended(static_cast<TagReceive&>(operation), TagEnd::kTaken, entry.tag, entry.data, "");
      return 1;
    case Operation::What::kTrial:
      return 0;
  }
  return 0;
}

unsigned Provider::take_error() {
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(completions_, &entry, 0) < 1 || entry.op_context == nullptr) return 0;
  Operation& operation = operation_of(entry.op_context);
  switch (operation.what) {
    case Operation::What::kReceive:
      not_received(static_cast<Buffer&>(operation), entry.flags);
      return 0;
    case Operation::What::kSend:
      events_->not_sent(static_cast<Buffer&>(operation), reason(entry));
      return 1;
    case Operation::What::kRead:
    case Operation::What::kPut:
      events_->not_transferred(static_cast<Transfer&>(operation), reason(entry));
      return 1;
    case Operation::What::kTag: {
      const bool nothing = entry.err == FI_ENOMSG;
      const TagEnd end = nothing                     ? TagEnd::kNothing
                         : entry.err == FI_ECANCELED ? TagEnd::kCancelled
                         : entry.err == FI_ETRUNC    ? TagEnd::kTaken
                                                     : TagEnd::kFailed;
      events_->tag_ended(static_cast<TagReceive&>(operation), end, entry.tag, entry.data,
                         end == TagEnd::kFailed ? reason(entry) : "");
      return nothing ? 0 : 1;
    }
    case Operation::What::kTrial:
      return 0;
  }
  return 0;
}

std::string Provider::reason(const fi_cq_err_entry& entry) const {
  char room[256] = "";
  const char* const detail = fi_cq_strerror(completions_, entry.prov_errno, entry.err_data, room, sizeof room);
  std::string words = text(static_cast<long>(entry.err));
  if (detail != nullptr && *detail != 0 && words != detail) words += std::string(" (") + detail + ")";
  return words;
}

}  // namespace ashlar::ofi

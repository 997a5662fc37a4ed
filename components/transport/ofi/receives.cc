#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "components/transport/ofi/provider.h"

// Receive buffers: of one frame each, or of many frames behind each other (FI_MULTI_RECV), of which short ones take as
// much as they need.
namespace ashlar::ofi {
namespace {

using network::Buffer;

constexpr std::uint64_t kMultiBuffers = 4;
constexpr std::uint64_t kFramesInMulti = 4;     // at least
constexpr std::uint64_t kMultiBytes = 1 << 30;  // at most

}  // namespace

/// Buffers of one frame each are taken in turn, so more of them than a cache holds are in none when a frame arrives:
/// messages of 64 KiB over `tcp`, both ways, brought 1.9 GB/s with 64 of them, 3.1 with 24 and 3.8 with 8, in a cache
/// of 1 MiB.
std::uint64_t Provider::receives_of(std::uint64_t frame_bytes, std::uint64_t wanted) {
  constexpr std::uint64_t kBytes = 1 << 20, kFew = 8, kMany = 64;
  if (wanted == 0) return std::clamp(kBytes / frame_bytes, kFew, kMany);
  return std::max(wanted, kFewestReceives);
}

/// Whether receive buffers are to take many frames. The provider has to be asked for that, and has to wait where the
/// completion queue is full, as the number of frames is not bounded.
bool Provider::choose_multi_receive() {
  if (config_.multi_receive == kNever || (config_.multi_receive == kWithCards && is_software())) return false;
  const char* why_not = nullptr;
  if (info_->domain_attr->resource_mgmt != FI_RM_ENABLED)
    why_not = "the provider's completion queue may overrun";
  else if (fi_info* const found = with_multi_receive(); found == nullptr)
    why_not = "the provider does not put many into one";
  else
    library_->freeinfo(std::exchange(info_, found));
  if (why_not != nullptr) why_ += std::string("; each frame has a receive buffer, as ") + why_not;
  return why_not == nullptr;
}

/// The description of what was chosen, with FI_MULTI_RECV; nullptr: there is none.
fi_info* Provider::with_multi_receive() {
  fi_info* const hints = library_->dupinfo(info_);
  if (hints == nullptr) return nullptr;
  hints->caps |= FI_MULTI_RECV;
  if (hints->rx_attr->caps != 0) hints->rx_attr->caps |= FI_MULTI_RECV;
  fi_info *all = nullptr, *found = nullptr;
  const int error = library_->getinfo(kVersion, nullptr, nullptr, 0, hints, &all);
  library_->freeinfo(hints);
  if (error != 0) return nullptr;
  for (const fi_info* info = all; info != nullptr && found == nullptr; info = info->next)
    if (same(info->domain_attr->name, info_->domain_attr->name) &&
        same(info->fabric_attr->name, info_->fabric_attr->name) &&
        same(info->fabric_attr->prov_name, info_->fabric_attr->prov_name))
      found = library_->dupinfo(info);
  library_->freeinfo(all);
  return found;
}

/// A buffer that has no room left for a frame is to be released. Before the endpoint is enabled.
void Provider::open_multi_receive() {
  const std::size_t least = frame_bytes_;
  const int error = fi_setopt(&endpoint_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
  if (error == 0) return;
  multi_receive_ = false;
  why_ += std::string("; each frame has a receive buffer, as FI_OPT_MIN_MULTI_RECV cannot be set: ") + text(error);
}

/// 0, or an error of libfabric.
int Provider::open_receives(std::uint64_t frames) {
  std::uint64_t count = frames, bytes = frame_bytes_;
  if (multi_receive_) {
    count = kMultiBuffers;
    bytes = std::min(std::max(frames / kMultiBuffers, kFramesInMulti) * frame_bytes_, kMultiBytes);
    why_ += "; frames share " + std::to_string(count) + " receive buffers of " + std::to_string(bytes >> 10) + " KiB";
  }
  receives_ = std::make_unique<network::BufferPool>(*this, bytes, count);
  if (multi_receive_) odd_frames_ = std::make_unique<network::BufferPool>(*this, frame_bytes_, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    Buffer* const buffer = receives_->take();
    if (buffer == nullptr) return -FI_ENOMEM;
    buffer->what = network::Operation::What::kReceive;
    receive(*buffer);
  }
  return 0;
}

void Provider::receive(Buffer& buffer) {
  ssize_t error = 0;
  if (multi_receive_) {
    const iovec to{.iov_base = buffer.bytes, .iov_len = buffer.capacity};
    fi_msg message = {};
    message.msg_iov = &to;
    message.desc = &buffer.description;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = &buffer.library;
    error = fi_recvmsg(endpoint_, &message, FI_MULTI_RECV);
  } else {
    error = fi_recv(endpoint_, buffer.bytes, buffer.capacity, buffer.description, FI_ADDR_UNSPEC, &buffer.library);
  }
  if (error != 0) {
    to_receive_.push_back(&buffer);
    return;
  }
  buffer.holds = 1;
}

/// Libfabric has released the buffer, or a frame in it has been delivered.
void Provider::let_go(Buffer& buffer) {
  if (--buffer.holds == 0) receive(buffer);
}

unsigned Provider::received(Buffer& buffer, const fi_cq_tagged_entry& entry) {
  if (!multi_receive_) {
    if (entry.len <= buffer.capacity && !events_->arrived(buffer.bytes, entry.len, &buffer)) ++buffer.holds;
    let_go(buffer);
    return 1;
  }
  // Without FI_RECV it only tells that the buffer is released.
  const bool has_frame = (entry.flags & FI_RECV) != 0;
  if (has_frame) {
    const auto* const bytes = static_cast<const std::byte*>(entry.buf);
    if (!network::is_aligned(bytes)) [[unlikely]]
      received_odd(buffer, bytes, entry.len);
    else if (!events_->arrived(bytes, entry.len, &buffer))
      ++buffer.holds;
  }
  if ((entry.flags & FI_MULTI_RECV) != 0) let_go(buffer);
  return has_frame ? 1 : 0;
}

/// A frame behind something that was none of ours. Ours have lengths that keep those behind them aligned. While the
/// copy waits, so does the buffer: there are no more copies than frames that fit into the receive buffers.
void Provider::received_odd(Buffer& in, const std::byte* bytes, std::size_t length) {
  Buffer* const copy = length <= frame_bytes_ ? odd_frames_->take() : nullptr;
  if (copy == nullptr) return events_->damaged();
  std::memcpy(copy->bytes, bytes, length);
  copy->next = &in;
  ++in.holds;
  if (events_->arrived(copy->bytes, length, copy)) reuse(*copy);
}

void Provider::reuse(Buffer& buffer) {
  if (buffer.pool != odd_frames_.get()) return let_go(buffer);
  let_go(*buffer.next);
  odd_frames_->give_back(buffer);
}

/// A frame that was too long, or cut off: whose it was, its sender's numbers tell.
void Provider::not_received(Buffer& buffer, std::uint64_t flags) {
  events_->damaged();
  if (!multi_receive_ || (flags & FI_MULTI_RECV) != 0) let_go(buffer);
}

}  // namespace ashlar::ofi

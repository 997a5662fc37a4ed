#include "components/transport/tcp/outbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ashlar::tcp {
namespace {

constexpr std::size_t kFirstBlock = 4 << 10;  // of a peer that is told little
constexpr std::size_t kMostSpare = 16;

Frame frame_at(const std::byte* at) {
  Frame frame;
  std::memcpy(&frame, at, sizeof frame);
  return frame;
}

/// Its bytes in the outbox: those of exposed memory stay where they are.
std::size_t bytes_of(const Frame& frame) {
  return sizeof frame + (frame.kind == Kind::kGetData ? 0 : std::size_t{frame.length});
}

bool is_message(const Frame& frame) { return frame.kind == Kind::kMessage; }

}  // namespace

std::unique_ptr<std::byte[]> BlockPool::take() {
  if (spare_.empty()) return std::make_unique_for_overwrite<std::byte[]>(bytes_);
  std::unique_ptr<std::byte[]> block = std::move(spare_.back());
  spare_.pop_back();
  return block;
}

void BlockPool::give(std::unique_ptr<std::byte[]> block) {
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(block));
}

Outbox::~Outbox() { forget(); }

void Outbox::give_back(Block& block) {
  if (block.room == pool_.block_bytes()) pool_.give(std::move(block.bytes));
}

Outbox::Block& Outbox::block_for(std::size_t bytes) {
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    if (head_ == tail_) {  // empty: the same memory again, while it is in the cache
      last.begin = tail_;
      last.end = 0;
    }
    if (last.room - last.end >= bytes) return last;
  }
  if (blocks_.empty() && bytes <= kFirstBlock) {
    blocks_.push_back(
        {.bytes = std::make_unique_for_overwrite<std::byte[]>(kFirstBlock), .room = kFirstBlock, .begin = tail_});
  } else if (bytes <= pool_.block_bytes()) {
    blocks_.push_back({.bytes = pool_.take(), .room = pool_.block_bytes(), .begin = tail_});
  } else {
    blocks_.push_back({.bytes = std::make_unique_for_overwrite<std::byte[]>(bytes), .room = bytes, .begin = tail_});
  }
  while (head_ == tail_ && blocks_.size() > 1) {
    give_back(blocks_.front());
    blocks_.pop_front();
  }
  if (sent_ == tail_) sent_block_ = blocks_.size() - 1;
  return blocks_.back();
}

std::byte* Outbox::append(std::size_t bytes, bool message) {
  Block& block = block_for(bytes);
  std::byte* const to = block.bytes.get() + block.end;
  block.end += bytes;
  tail_ += bytes;
  if (message) ++next_;
  levels_.waiting.raise(bytes);
  return to;
}

void Outbox::take_back(std::size_t bytes, bool message) {
  blocks_.back().end -= bytes;
  tail_ -= bytes;
  if (message) --next_;
  levels_.waiting.lower(bytes);
}

int Outbox::gather(iovec* parts, int room, std::size_t skip, std::size_t bytes) const {
  int count = 0;
  std::uint64_t from = sent_ + skip;
  bytes = std::min<std::uint64_t>(bytes, tail_ - from);
  for (std::size_t i = sent_block_; bytes != 0 && count < room; ++i) {
    const Block& block = blocks_[i];
    if (from >= block.begin + block.end) continue;
    const std::size_t offset = from - block.begin;
    const std::size_t part = std::min(bytes, block.end - offset);
    parts[count++] = {block.bytes.get() + offset, part};
    from += part;
    bytes -= part;
  }
  return count;
}

void Outbox::sent(std::size_t bytes) {
  sent_ += bytes;
  levels_.waiting.lower(bytes);
  levels_.kept.raise(bytes);
  while (sent_block_ + 1 < blocks_.size() && sent_ >= blocks_[sent_block_].begin + blocks_[sent_block_].end)
    ++sent_block_;
  release();
}

bool Outbox::acknowledge(std::uint16_t bits) {
  const auto further = static_cast<std::uint16_t>(bits - static_cast<std::uint16_t>(acked_));
  if (further == 0) [[likely]]
    return true;
  if (further > next_ - acked_) return false;
  acked_ += further;
  release();
  return true;
}

/// Drops what has left and need not be kept. A frame of which a part has left must be sent whole over this connection,
/// and so must one that the peer has from an earlier connection: it counts what comes.
void Outbox::release() {
  while (head_ < sent_) {
    const Block& block = blocks_.front();
    const Frame frame = frame_at(block.bytes.get() + (head_ - block.begin));
    const std::size_t bytes = bytes_of(frame);
    if (head_ + bytes > sent_) return;
    if (is_message(frame)) {
      if (first_ == acked_) return;
      ++first_;
    }
    levels_.kept.lower(bytes);
    drop_head(bytes);
  }
}

void Outbox::drop_head(std::size_t bytes) {
  head_ += bytes;
  while (blocks_.size() > 1 && head_ >= blocks_.front().begin + blocks_.front().end) {
    give_back(blocks_.front());
    blocks_.pop_front();
    if (sent_block_ > 0) --sent_block_;
  }
}

void Outbox::rewind(std::uint16_t ack) {
  levels_.kept.lower(sent_ - head_);
  levels_.waiting.lower(tail_ - sent_);
  std::deque<Block> before = std::move(blocks_);
  blocks_.clear();
  std::uint64_t at = head_;
  const std::uint64_t end = tail_, next = next_;
  head_ = sent_ = tail_;
  sent_block_ = 0;
  for (Block& block : before) {
    for (; at < std::min(block.begin + block.end, end);) {
      const std::byte* const from = block.bytes.get() + (at - block.begin);
      Frame frame = frame_at(from);
      const std::size_t bytes = bytes_of(frame);
      at += bytes;
      if (!is_message(frame)) continue;
      frame.ack = ack;
      std::byte* const to = append(bytes, true);
      std::memcpy(to, &frame, sizeof frame);
      std::memcpy(to + sizeof frame, from + sizeof frame, bytes - sizeof frame);
    }
    give_back(block);
  }
  next_ = next;
}

void Outbox::drop_first_message() {
  const Block& block = blocks_.front();
  const std::size_t bytes = bytes_of(frame_at(block.bytes.get() + (head_ - block.begin)));
  levels_.waiting.lower(bytes);
  ++first_;
  sent_ += bytes;
  if (sent_block_ + 1 < blocks_.size() && sent_ >= block.begin + block.end) ++sent_block_;
  drop_head(bytes);
}

bool Outbox::resume_at(std::uint64_t count) {
  if (count > next_ || (count < first_ && first_ > forgotten_)) return false;
  while (first_ < count) drop_first_message();
  acked_ = first_;
  return true;
}

void Outbox::forget_before(std::uint64_t next) {
  if (next <= first_) return;
  while (first_ < next) drop_first_message();
  acked_ = forgotten_ = first_;
}

void Outbox::put_first(const void* frame, std::size_t bytes) {
  head_ -= bytes;
  sent_ = head_;
  sent_block_ = 0;
  blocks_.push_front({.bytes = std::make_unique_for_overwrite<std::byte[]>(kFirstBlock),
                      .room = kFirstBlock,
                      .end = bytes,
                      .begin = head_});
  std::memcpy(blocks_.front().bytes.get(), frame, bytes);
  levels_.waiting.raise(bytes);
}

void Outbox::forget() {
  levels_.kept.lower(sent_ - head_);
  levels_.waiting.lower(tail_ - sent_);
  for (Block& block : blocks_) give_back(block);
  blocks_.clear();
  head_ = sent_ = tail_;
  sent_block_ = 0;
  first_ = acked_ = forgotten_ = next_;
}

}  // namespace ashlar::tcp

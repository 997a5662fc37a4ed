#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "components/transport/tcp/wire.h"
#include "framework/base/counter.h"

namespace ashlar::tcp {

/// Memory that outboxes share: what one gives back, another takes.
class BlockPool {
 public:
  /// Blocks have `bytes` bytes, and a frame fits into one.
  explicit BlockPool(std::size_t bytes) : bytes_(bytes) {}
  std::size_t block_bytes() const { return bytes_; }
  std::unique_ptr<std::byte[]> take();
  void give(std::unique_ptr<std::byte[]> block);

 private:
  const std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte[]>> spare_;
};

/// The frames to one peer, whole and in order: first those that have left and are kept until the peer has said that it
/// has them, then those that wait to leave. Messages are numbered from 0, and kept; other frames belong to a connection
/// and are lost with it, as what they say is said anew over the next one.
class Outbox {
 public:
  struct Levels {
    MarkedLevel& waiting;
    MarkedLevel& kept;
  };
  Outbox(BlockPool& pool, Levels levels) : pool_(pool), levels_(levels) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Room for a frame of `bytes` bytes in one piece. Valid until the next call; the head has to be written before it.
  std::byte* append(std::size_t bytes, bool message);
  /// Puts a frame in front, behind rewind(): it is no message.
  void put_first(const void* frame, std::size_t bytes);
  /// Takes the last frame back, which must not have left.
  void take_back(std::size_t bytes, bool message);

  std::size_t waiting() const { return tail_ - sent_; }
  std::size_t size() const { return tail_ - head_; }
  bool all_sent() const { return tail_ == sent_; }
  std::uint64_t first() const { return first_; }         // number of the first message that is kept or waits
  std::uint64_t next() const { return next_; }           // number of the next message
  std::uint64_t acknowledged() const { return acked_; }  // the peer has all messages before this one
  bool has_messages() const { return first_ != next_; }
  std::uint64_t messages() const { return next_ - first_; }

  /// What waits, without its first `skip` bytes, `bytes` at most. Returns how many of the `room` parts it took.
  int gather(iovec* parts, int room, std::size_t skip, std::size_t bytes) const;
  /// The first `bytes` bytes of what waited have left.
  void sent(std::size_t bytes);
  /// The peer says that it has as many messages as these bits say. False: they mean what was never sent.
  bool acknowledge(std::uint16_t bits);

  /// The connection is over: all messages wait again, other frames are gone. `ack`: what their heads are to say.
  void rewind(std::uint16_t ack);
  /// After rewind(): the peer has `count` messages, which are dropped here. False: that cannot be.
  bool resume_at(std::uint64_t count);
  /// After rewind(): the messages before number `next` are dropped, whether the peer has them or not.
  void forget_before(std::uint64_t next);
  /// Everything is dropped; the numbers of the messages are not used again.
  void forget();

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t room, end = 0;
    std::uint64_t begin;  // position of its first byte
  };
  static constexpr std::uint64_t kOrigin = 1024;
  Block& block_for(std::size_t bytes);
  void release();
  void drop_first_message();
  void drop_head(std::size_t bytes);
  void give_back(Block& block);

  BlockPool& pool_;
  const Levels levels_;
  std::deque<Block> blocks_;
  // Positions in the row of all bytes that were ever here; put_first() goes back.
  std::uint64_t head_ = kOrigin, sent_ = kOrigin, tail_ = kOrigin;
  std::size_t sent_block_ = 0;  // index of the block that sent_ lies in
  std::uint64_t first_ = 0, next_ = 0, acked_ = 0, forgotten_ = 0;
};

}  // namespace ashlar::tcp

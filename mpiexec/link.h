#pragma once
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/base/descriptor.h"
#include "mpiexec/frames.h"

namespace ashlar::mpiexec {

struct Frame {
  FrameKind kind;
  std::string_view body;  // valid until the next call of the link
};

/// Frames over two pipes. Nothing blocks: what cannot be written waits, and flush() goes on with it.
///
/// A link may also lead through another one: what it sends travels in frames of that one (kDown), and what comes for it
/// in such frames (kUp) is given to feed(). Such links nest, and no end of them knows how deep.
class Link {
 public:
  Link() = default;
  /// They become non-blocking, and must not be shared with another process.
  Link(Descriptor in, Descriptor out);
  /// Through `other`, which outlives it or is closed before it; `number` says there whose the frames are.
  Link(Link& other, std::uint32_t number, FrameKind kind = FrameKind::kDown)
      : through_(&other), number_(number), kind_(kind) {}

  int in() const { return in_.get(); }
  /// The descriptor to wait for before flush(); -1: there is nothing to write.
  int wants_write() const { return queued() > 0 ? out_.get() : -1; }
  std::size_t queued() const { return to_write_.size() - written_; }

  /// Reads what is there. False once the other end is gone; what came before it can still be taken.
  bool read_some();
  /// Bytes that have come through the other link.
  void feed(std::string_view bytes);
  /// The next line, without its end: what comes before the frames. False: there is no whole one yet.
  bool take_line(std::string* line);
  /// What has come and was not taken, for a report.
  std::string_view unread() const { return std::string_view(arrived_).substr(taken_); }
  /// False: there is no whole frame yet, or broken() is true.
  bool take(Frame* frame);
  /// What has come is no frame.
  bool broken() const { return broken_; }
  /// The first of those bytes, for a report.
  std::string broken_words() const;

  void send(FrameKind kind, std::string_view body = {});
  /// Bytes that are no frame.
  void send_raw(std::string_view bytes);
  /// False once the other end is gone. Of a link through another one: the bytes are in that one's queue.
  bool flush();
  void close();

 private:
  void drop_taken();
  bool flush_through();

  Descriptor in_, out_;
  Link* through_ = nullptr;
  std::uint32_t number_ = 0;
  FrameKind kind_ = FrameKind::kDown;
  std::string arrived_, to_write_;
  std::size_t taken_ = 0, written_ = 0;
  bool broken_ = false, gone_ = false;
};

}  // namespace ashlar::mpiexec

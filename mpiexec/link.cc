#include "mpiexec/link.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "framework/base/stream_socket.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

struct FrameHead {
  std::uint32_t bytes;  // of the body
  FrameKind kind;
  std::uint16_t mark;
};
constexpr std::uint16_t kMark = 0xa57a;
constexpr std::size_t kMostBody = 1u << 30;
constexpr std::size_t kPiece = 1u << 16;
constexpr std::size_t kMostThrough = 1u << 20;  // bytes in one frame of the link that it leads through
constexpr std::size_t kQuoted = 48;
constexpr std::size_t kKeptWritten = 1u << 20;

}  // namespace

Link::Link(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {
  for (const int fd : {in_.get(), out_.get()}) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void Link::close() {
  in_.reset();
  out_.reset();
  through_ = nullptr;
  to_write_.clear();
  written_ = 0;
}

void Link::drop_taken() {
  if (taken_ == 0) return;
  arrived_.erase(0, taken_);
  taken_ = 0;
}

void Link::feed(std::string_view bytes) {
  drop_taken();
  arrived_.append(bytes);
}

bool Link::read_some() {
  if (!in_) return false;
  drop_taken();
  // A few pieces only: other descriptors have their turn.
  for (int turn = 0; turn < 4; ++turn) {
    const std::size_t before = arrived_.size();
    arrived_.resize(before + kPiece);
    const ssize_t n = read(in_.get(), arrived_.data() + before, kPiece);
    arrived_.resize(before + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n > 0) continue;
    return is_later(n);
  }
  return true;
}

bool Link::take_line(std::string* line) {
  const std::size_t end = arrived_.find('\n', taken_);
  if (end == std::string::npos) return false;
  *line = arrived_.substr(taken_, end - taken_);
  taken_ = end + 1;
  return true;
}

bool Link::take(Frame* frame) {
  FrameHead head;
  if (broken_ || arrived_.size() - taken_ < sizeof head) return false;
  std::memcpy(&head, arrived_.data() + taken_, sizeof head);
  broken_ = head.mark != kMark || head.bytes > kMostBody;
  if (broken_ || arrived_.size() - taken_ - sizeof head < head.bytes) return false;
  frame->kind = head.kind;
  frame->body = std::string_view(arrived_).substr(taken_ + sizeof head, head.bytes);
  taken_ += sizeof head + head.bytes;
  return true;
}

std::string Link::broken_words() const {
  const std::string_view all = unread().substr(0, kQuoted);
  // Lines that some program has printed. A frame may come behind them, and the first bytes of its head be printable.
  const auto end = std::find_if(all.begin(), all.end(), [](char c) { return (c < ' ' && c != '\n') || c > '~'; });
  std::string_view lines = all.substr(0, static_cast<std::size_t>(end - all.begin()));
  if (const std::size_t last = lines.rfind('\n'); end != all.end() && last != std::string_view::npos)
    lines = lines.substr(0, last + 1);
  return "bytes that are no message of mpiexec's, \"" + shown(lines.empty() ? all : lines) + "\"";
}

void Link::send(FrameKind kind, std::string_view body) {
  const FrameHead head = {.bytes = static_cast<std::uint32_t>(body.size()), .kind = kind, .mark = kMark};
  send_raw({reinterpret_cast<const char*>(&head), sizeof head});
  send_raw(body);
}

void Link::send_raw(std::string_view bytes) {
  if (gone_ || (!out_ && through_ == nullptr)) return;
  if (written_ == to_write_.size()) {
    to_write_.clear();
    written_ = 0;
  }
  // A reader that is never quite done leaves no moment in which all is written.
  if (written_ >= kKeptWritten) {
    to_write_.erase(0, written_);
    written_ = 0;
  }
  to_write_.append(bytes);
}

bool Link::flush_through() {
  for (std::string_view left = std::string_view(to_write_).substr(written_); !left.empty();) {
    const std::string_view piece = left.substr(0, kMostThrough);
    through_->send(kind_, packed(number_).append(piece));
    left.remove_prefix(piece.size());
  }
  to_write_.clear();
  written_ = 0;
  return true;
}

bool Link::flush() {
  if (through_ != nullptr) return flush_through();
  while (!gone_ && out_ && queued() > 0) {
    const ssize_t n = write(out_.get(), to_write_.data() + written_, queued());
    if (n > 0) {
      written_ += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else {
      gone_ = true;
      to_write_.clear();
      written_ = 0;
    }
  }
  return !gone_;
}

}  // namespace ashlar::mpiexec

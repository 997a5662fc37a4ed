#include "components/transport/tcp/stream.h"

namespace ashlar::tcp {
namespace {

constexpr std::size_t kKept = 64 << 10;  // memory of an empty stream

}  // namespace

std::byte* Stream::append(std::size_t n) {
  if (head_ > 0 && head_ >= size()) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  bytes_.resize(bytes_.size() + n);
  return bytes_.data() + bytes_.size() - n;
}

void Stream::consume(std::size_t n) {
  head_ += n;
  if (empty()) clear();
}

void Stream::clear() {
  head_ = 0;
  bytes_.clear();
  if (bytes_.capacity() > kKept) bytes_.shrink_to_fit();
}

}  // namespace ashlar::tcp

#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace ashlar::tcp {

/// Bytes that wait to be sent, in order. Memory is given back when it is empty and was large.
class Stream {
 public:
  bool empty() const { return head_ == bytes_.size(); }
  std::size_t size() const { return bytes_.size() - head_; }
  const std::byte* data() const { return bytes_.data() + head_; }
  /// Room for `n` bytes at the end; valid until the next call.
  std::byte* append(std::size_t n);
  void append(const void* data, std::size_t n) {
    if (n != 0) std::memcpy(append(n), data, n);
  }
  /// Takes the last `n` bytes back.
  void take_back(std::size_t n) { bytes_.erase(bytes_.end() - static_cast<std::ptrdiff_t>(n), bytes_.end()); }
  /// The first `n` bytes have left.
  void consume(std::size_t n);
  void clear();

 private:
  std::vector<std::byte> bytes_;
  std::size_t head_ = 0;
};

}  // namespace ashlar::tcp

#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace ashlar {

/// Appends to a text of fixed size, which always ends in a zero; what does not fit is cut. Allocates nothing, so that a
/// failure for want of memory can still be put into words.
class TextWriter {
 public:
  TextWriter(char* out, std::size_t room) : out_(out), room_(room) { out_[0] = '\0'; }
  template <std::size_t N>
  explicit TextWriter(char (&out)[N]) : TextWriter(out, N) {}

  TextWriter& add(std::string_view text) {
    const std::size_t bytes = std::min(text.size(), room_ - 1 - used_);
    if (bytes > 0) std::memcpy(out_ + used_, text.data(), bytes);
    used_ += bytes;
    out_[used_] = '\0';
    return *this;
  }
  /// Ends a sentence with a full stop, unless the text ends one already.
  TextWriter& stop() {
    if (used_ > 0 && std::string_view(".!?:\n").find(out_[used_ - 1]) == std::string_view::npos) add(".");
    return *this;
  }
  std::size_t size() const { return used_; }
  std::string_view view() const { return {out_, used_}; }
  /// Takes back what was added after the text had `size` characters.
  void cut(std::size_t size) { out_[used_ = size] = '\0'; }

 private:
  char* out_;
  std::size_t room_, used_ = 0;
};

}  // namespace ashlar

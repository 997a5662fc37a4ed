#pragma once
#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace ashlar::datatype {

/// Text that ends with dots when it does not fit.
class Words {
 public:
  Words(char* out, std::size_t room) : out_(out), room_(room) { out_[0] = '\0'; }
  bool full() const { return full_; }

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    if (full_) return;
    va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(out_ + used_, room_ - used_, format, arguments);
    va_end(arguments);
    used_ += static_cast<std::size_t>(std::max(wanted, 0));
    if (used_ < room_) return;
    full_ = true;
    if (room_ > 4) std::memcpy(out_ + room_ - 4, "...", 4);
  }

 private:
  char* out_;
  std::size_t room_, used_ = 0;
  bool full_ = false;
};

}  // namespace ashlar::datatype

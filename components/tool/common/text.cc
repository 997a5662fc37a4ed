#include "components/tool/common/text.h"

#include <cstdarg>
#include <cstdio>

#include "components/tool/common/layout.h"
#include "framework/base/bytes_text.h"

namespace ashlar::recording {

std::string text(const char* format, ...) {
  char out[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(out, sizeof out, format, arguments);
  va_end(arguments);
  return out;
}

std::string time_text(double seconds) {
  const double size = seconds < 0 ? -seconds : seconds;
  if (size >= 1 || size == 0) return text("%.3g s", seconds);
  if (size >= 1e-3) return text("%.3g ms", seconds * 1e3);
  if (size >= 1e-6) return text("%.3g us", seconds * 1e6);
  return text("%.3g ns", seconds * 1e9);
}

std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  for (; unit < 5 && bytes >= 1000; ++unit) bytes /= 1024;
  return text("%.3g %s", bytes, kUnits[unit]);
}

std::string count_text(std::uint64_t count) {
  std::string out;
  for (int digits = 1; count > 0 || out.empty(); count /= 10, ++digits) {
    out += static_cast<char>('0' + count % 10);
    if (digits % 3 == 0 && count >= 10) out += ',';
  }
  return {out.rbegin(), out.rend()};
}

std::string percent_text(double part) { return text("%.1f %%", 100 * part); }

std::string class_text(std::uint32_t size_class) {
  if (size_class == 0) return "none";
  if (size_class == kSizeClasses - 1) return "above " + bytes_text(most_of_class(size_class - 1));
  return "to " + bytes_text(most_of_class(size_class));
}

}  // namespace ashlar::recording

#include "framework/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "framework/base/printable.h"

namespace ashlar::log {
namespace {

std::atomic<int> level_in_force{static_cast<int>(Level::error)};
char speaker[128] = "ashlar";
constexpr int kLineBytes = 1024, kMostBytes = 4096;
constexpr const char* kNames[] = {"error", "warn", "info", "debug", "trace"};

}  // namespace

bool enabled(Level level) noexcept { return static_cast<int>(level) <= level_in_force.load(std::memory_order_relaxed); }
void set_level(Level level) noexcept { level_in_force.store(static_cast<int>(level), std::memory_order_relaxed); }

void set_speaker(const char* name) noexcept { std::snprintf(speaker, sizeof speaker, "%s", name); }

namespace {

// Writes `text`, which has room for a newline after its `used` bytes; in one write, so that the lines of several ranks
// on one pipe stay whole.
void write_out(const char* text, std::size_t used, Newlines newlines) {
  char shown[kMostBytes];
  std::size_t length = printable({text, used}, shown, sizeof shown - 1, newlines);
  shown[length++] = '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, shown, length);
}

}  // namespace

void line(Level level, const char* room, const char* format, ...) noexcept {
  char text[kLineBytes];
  int used = std::snprintf(text, sizeof text, "%s: %s %s: ", speaker, kNames[static_cast<int>(level)], room);
  va_list arguments;
  va_start(arguments, format);
  const int body = std::vsnprintf(text + used, sizeof text - static_cast<std::size_t>(used) - 1, format, arguments);
  va_end(arguments);
  used = std::min(used + std::max(body, 0), static_cast<int>(sizeof text) - 2);
  write_out(text, static_cast<std::size_t>(used), Newlines::escape);
}

void paragraph(Level level, const char* room, const char* text) noexcept {
  char whole[kMostBytes];
  const int used =
      std::snprintf(whole, sizeof whole, "%s: %s %s: %s", speaker, kNames[static_cast<int>(level)], room, text);
  write_out(whole, static_cast<std::size_t>(std::clamp(used, 0, kMostBytes - 2)), Newlines::keep);
}

}  // namespace ashlar::log

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
constexpr const char* kNames[] = {"error", "warn", "info", "debug", "trace"};

}  // namespace

bool enabled(Level level) noexcept { return static_cast<int>(level) <= level_in_force.load(std::memory_order_relaxed); }
void set_level(Level level) noexcept { level_in_force.store(static_cast<int>(level), std::memory_order_relaxed); }

void set_speaker(const char* who) noexcept { std::snprintf(speaker, sizeof speaker, "%s", who); }

void line(Level level, const char* room, const char* format, ...) noexcept {
  char text[1024];
  int used = std::snprintf(text, sizeof text, "%s: %s %s: ", speaker, kNames[static_cast<int>(level)], room);
  va_list arguments;
  va_start(arguments, format);
  const int body = std::vsnprintf(text + used, sizeof text - static_cast<std::size_t>(used) - 1, format, arguments);
  va_end(arguments);
  used = std::min(used + std::max(body, 0), static_cast<int>(sizeof text) - 2);
  char shown[sizeof text];
  std::size_t length = printable({text, static_cast<std::size_t>(used)}, shown, sizeof shown - 1);
  shown[length++] = '\n';
  // One write: lines of several ranks on one pipe stay whole.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, shown, length);
}

}  // namespace ashlar::log

#pragma once

namespace ashlar::log {

enum class Level : int { error = 0, warn, info, debug, trace };

/// The level up to which lines are printed to standard error; error until `set_level`.
bool enabled(Level level) noexcept;
void set_level(Level level) noexcept;
/// The name of this process in front of each line, once the job is known ("ashlar: rank 3 of 8").
void set_speaker(const char* name) noexcept;
[[gnu::format(printf, 3, 4)]] void line(Level level, const char* room, const char* format, ...) noexcept;
/// A text of several lines, whatever the level in force.
void paragraph(Level level, const char* room, const char* text) noexcept;

}  // namespace ashlar::log

#define ASHLAR_LOG(level, room, ...)                                       \
  do {                                                                     \
    if (::ashlar::log::enabled(::ashlar::log::Level::level)) [[unlikely]]  \
      ::ashlar::log::line(::ashlar::log::Level::level, room, __VA_ARGS__); \
  } while (0)

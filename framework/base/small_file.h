#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace ashlar {

/// The contents of a file of the system, up to 64 KiB, in /proc or /sys for one; empty: it cannot be read.
inline std::string small_file(const std::string& path) {
  constexpr std::size_t kMost = 64 << 10;
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0 && text.size() < kMost;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(fd);
  return text;
}

}  // namespace ashlar

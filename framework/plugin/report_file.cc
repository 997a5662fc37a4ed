#include "framework/plugin/report_file.h"

#include <fcntl.h>

namespace ashlar::plugin {

std::string report_file_name(const std::string& pattern, const ashlar_report_context& context) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'r')
      name += context.world_rank >= 0 ? std::to_string(context.world_rank) : "launcher";
    else if (next == 'p')
      name += std::to_string(context.pid);
    else
      name += pattern[i];
    if (next == 'r' || next == 'p') ++i;
  }
  return name;
}

int open_report_file(const std::string& name, bool elevated) {
  const int careful = elevated ? O_NOFOLLOW : 0;
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | careful,
                        elevated ? 0600 : 0666);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

}  // namespace ashlar::plugin

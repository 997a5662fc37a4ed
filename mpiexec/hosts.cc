#include "mpiexec/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "mpiexec/config_file.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

bool is_this_host(const std::string& name) {
  if (name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
  char self[256] = {};
  if (gethostname(self, sizeof self - 1) != 0) return false;
  const std::string full = self;
  return name == full || name == full.substr(0, full.find('.'));
}

}  // namespace

bool all_this_host(const std::string& list, std::string* why_not) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string host = list.substr(at, comma - at);
    // An IPv6 address has more than one colon.
    if (std::count(host.begin(), host.end(), ':') == 1) host.resize(host.find(':'));
    if (!is_this_host(host)) {
      *why_not = text(
          "host \"%s\" is not this machine; starting ranks on other machines, and messages between machines, are "
          "not implemented yet",
          host.c_str());
      return false;
    }
    at = comma + 1;
  }
  return true;
}

bool host_file_is_this_host(const std::string& path, std::string* why_not) {
  std::vector<std::vector<std::string>> lines;
  if (!read_word_lines("--hostfile", path, &lines, why_not)) return false;
  for (const std::vector<std::string>& line : lines)
    if (!all_this_host(line[0], why_not)) {
      *why_not = path + ": " + *why_not;
      return false;
    }
  return true;
}

}  // namespace ashlar::mpiexec

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

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What may stand behind a host: a number of ranks, in the words of several launchers.
bool is_known(const std::string& word) {
  for (const char* key : {"slots=", "max_slots=", "max-slots=", "ncpus=", "count=", "cpu="})
    if (word.starts_with(key)) return is_number(word.substr(std::strlen(key)));
  for (const char* key : {"user=", "username=", "binding=", "ifname="})
    if (word.starts_with(key)) return word.size() > std::strlen(key);
  return word.starts_with('#');
}

}  // namespace

bool all_this_host(const std::string& list, std::string* why_not) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string host = list.substr(at, comma - at);
    // An IPv6 address has more than one colon.
    if (std::count(host.begin(), host.end(), ':') == 1) {
      if (!is_number(host.substr(host.find(':') + 1))) {
        *why_not = text("\"%s\": a number of ranks belongs behind the colon", shown(host).c_str());
        return false;
      }
      host.resize(host.find(':'));
    }
    if (!is_this_host(host)) {
      *why_not = text(
          "host \"%s\" is not this machine; starting ranks on other machines, and messages between machines, are "
          "not implemented yet",
          shown(host).c_str());
      return false;
    }
    at = comma + 1;
  }
  return true;
}

bool host_file_is_this_host(const std::string& path, std::string* why_not) {
  std::vector<std::vector<std::string>> lines;
  if (!read_word_lines("--hostfile", path, &lines, why_not)) return false;
  for (const std::vector<std::string>& line : lines) {
    bool good = all_this_host(line[0], why_not);
    for (std::size_t i = 1; good && i < line.size() && !line[i - 1].starts_with('#'); ++i) {
      good = is_known(line[i]);
      if (!good)
        *why_not = text("\"%s\" behind host %s: a line is HOST, HOST:N or HOST slots=N, where N is a number of ranks",
                        shown(line[i]).c_str(), shown(line[0]).c_str());
    }
    if (!good) {
      *why_not = shown(path) + ": " + *why_not;
      return false;
    }
  }
  return true;
}

}  // namespace ashlar::mpiexec

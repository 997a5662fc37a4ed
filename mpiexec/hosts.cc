#include "mpiexec/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
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

Status check_hosts(const std::string& list) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string host = list.substr(at, comma - at);
    // An IPv6 address has more than one colon.
    if (std::count(host.begin(), host.end(), ':') == 1) {
      if (!is_number(host.substr(host.find(':') + 1))) return fail(kErrArg, "host.no_number", {{"host", brief(host)}});
      host.resize(host.find(':'));
    }
    if (!is_this_host(host)) return fail(kErrArg, "host.not_this_machine", {{"host", brief(host)}});
    at = comma + 1;
  }
  return {};
}

Status check_host_file(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  ASHLAR_TRY(read_word_lines("--hostfile", path, &lines));
  for (const std::vector<std::string>& line : lines) {
    if (const Status status = check_hosts(line[0]); !status.ok()) return add_facts(status, {{"file", brief(path)}});
    for (std::size_t i = 1; i < line.size() && !line[i - 1].starts_with('#'); ++i)
      if (!is_known(line[i]))
        return fail(kErrArg, "host.line", {{"word", brief(line[i])}, {"host", brief(line[0])}, {"file", brief(path)}});
  }
  return {};
}

}  // namespace ashlar::mpiexec

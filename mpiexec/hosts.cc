#include "mpiexec/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/config_file.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr unsigned kMostSlots = 1u << 20;

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A name is a word of the agent's command line: none that the agent takes for an option, or a shell for more than
/// text.
bool may_be_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::strchr("._-:@%", c);
  };
  return !name.empty() && name.size() < 256 && name[0] != '-' && name.find("@-") == std::string::npos &&
         name.find('\0') == std::string::npos && std::all_of(name.begin(), name.end(), fits);
}

Status take_slots(const std::string& host, const std::string& number, unsigned* slots) {
  const unsigned long value = is_number(number) ? std::strtoul(number.c_str(), nullptr, 10) : 0;
  if (value == 0 || value > kMostSlots) return fail(kErrArg, "host.no_number", {{"host", brief(host)}});
  *slots = static_cast<unsigned>(value);
  return {};
}

/// "node1", "node1:4", "[fe80::1]:4", "fe80::1".
Status read_host(const std::string& word, HostSlots* host) {
  std::string name = word;
  const auto colons = std::count(word.begin(), word.end(), ':');
  const std::size_t bracket = word.rfind("]:");
  if (colons == 1 || bracket != std::string::npos) {
    ASHLAR_TRY(take_slots(word, word.substr(word.rfind(':') + 1), &host->slots));
    name = word.substr(0, word.rfind(':'));
  }
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  if (!may_be_name(name)) return fail(kErrArg, "host.no_name", {{"host", brief(word)}});
  host->name = name;
  return {};
}

/// A host without a number that is named again counts once for each time.
void add_host(HostSlots host, std::vector<HostSlots>* hosts) {
  const auto same = [&](const HostSlots& other) { return is_same_host(other.name, host.name); };
  const auto found = std::find_if(hosts->begin(), hosts->end(), same);
  if (found == hosts->end())
    hosts->push_back(std::move(host));
  else
    found->slots = std::max(found->slots, 1u) + std::max(host.slots, 1u);
}

/// What may stand behind a host: a number of ranks, in the words of several launchers, and a user.
Status take_word(const std::string& word, HostSlots* host, bool* known) {
  *known = true;
  for (const char* key : {"slots=", "ncpus=", "count=", "cpu="})
    if (word.starts_with(key)) {
      *known = is_number(word.substr(std::strlen(key)));
      return *known ? take_slots(host->name, word.substr(std::strlen(key)), &host->slots) : Status();
    }
  if (word.starts_with("arch=") && word.size() > std::strlen("arch=")) {
    host->arch = word.substr(std::strlen("arch="));
    return {};
  }
  for (const char* key : {"user=", "username="})
    if (word.starts_with(key) && may_be_name(word.substr(std::strlen(key)))) {
      host->name = word.substr(std::strlen(key)) + "@" + host->name;
      return {};
    }
  for (const char* key : {"max_slots=", "max-slots="})
    if (word.starts_with(key)) *known = is_number(word.substr(std::strlen(key)));
  for (const char* key : {"binding=", "ifname="})
    if (word.starts_with(key) && word.size() > std::strlen(key)) return {};
  if (word.starts_with("max_slots=") || word.starts_with("max-slots=")) return {};
  *known = false;
  return {};
}

}  // namespace

// The name of a node is Slurm's own affair, and may be none of the machine.
bool is_this_host(const std::string& name) {
  if (name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
  if (const char* const node = std::getenv("SLURMD_NODENAME"); node != nullptr && name == node) return true;
  char self[256] = {};
  if (gethostname(self, sizeof self - 1) != 0) return false;
  const std::string full = self;
  return name == full || name == full.substr(0, full.find('.'));
}

bool is_same_host(const std::string& one, const std::string& other) {
  return one == other || (is_this_host(one) && is_this_host(other));
}

Status read_hosts(const std::string& list, std::vector<HostSlots>* hosts) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    HostSlots host;
    ASHLAR_TRY(read_host(list.substr(at, comma - at), &host));
    add_host(std::move(host), hosts);
    at = comma + 1;
  }
  return {};
}

Status read_host_file(const std::string& path, std::vector<HostSlots>* hosts) {
  std::vector<std::vector<std::string>> lines;
  ASHLAR_TRY(read_word_lines("--hostfile", path, &lines));
  if (lines.empty()) return fail(kErrArg, "host.none", {{"file", brief(path)}});
  for (const std::vector<std::string>& line : lines) {
    HostSlots host;
    if (const Status status = read_host(line[0], &host); !status.ok())
      return add_facts(status, {{"file", brief(path)}});
    for (std::size_t i = 1; i < line.size() && !line[i].starts_with('#'); ++i) {
      bool known = false;
      if (const Status status = take_word(line[i], &host, &known); !status.ok())
        return add_facts(status, {{"file", brief(path)}});
      if (!known)
        return fail(kErrArg, "host.line", {{"word", brief(line[i])}, {"host", brief(line[0])}, {"file", brief(path)}});
    }
    add_host(std::move(host), hosts);
  }
  return {};
}

}  // namespace ashlar::mpiexec

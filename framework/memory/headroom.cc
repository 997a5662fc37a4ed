#include "framework/memory/headroom.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/small_file.h"

namespace ashlar::memory {
namespace {

constexpr std::uint64_t kUnknown = UINT64_MAX;

/// The number at the beginning of `text`; "max" and what is no number: kUnknown.
std::uint64_t number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return kUnknown;
  return std::strtoull(std::string(text.substr(0, 24)).c_str(), nullptr, 10);
}

/// The number behind `key` at the beginning of a line.
std::uint64_t value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.substr(0, key.size()) == key) return number(line.substr(key.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return kUnknown;
}

/// The names of files in a control group, by its version.
struct Names {
  const char *limit, *usage, *reclaimable;
};
constexpr Names kVersion1 = {
    .limit = "memory.limit_in_bytes", .usage = "memory.usage_in_bytes", .reclaimable = "total_inactive_file "};
constexpr Names kVersion2 = {.limit = "memory.max", .usage = "memory.current", .reclaimable = "inactive_file "};

/// Calls look(folder, limit, names, group) for each group that has a limit, from `path` up to the root of `mount`: the
/// limits of all of them hold.
template <class Look>
void each_group(const std::string& mount, std::string path, const Names& names, Look look) {
  for (;; path.resize(path.rfind('/'))) {
    if (path == "/") path.clear();
    const std::string folder = mount + path + "/";
    // A group that is not there is one outside the container, where its own group is the root of the mount.
    if (const std::uint64_t limit = number(small_file(folder + names.limit)); limit != kUnknown)
      look(folder, limit, names, path.empty() ? "/" : path);
    if (path.empty()) return;
  }
}

template <class Look>
void each_group_of_process(const std::string& root, Look look) {
  const std::string groups = small_file(root + "/proc/self/cgroup");
  std::string_view rest = groups;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const std::string path(line.substr(second + 1));
    if (controllers == ",,") {
      for (const char* const mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        each_group(root + mount, path, kVersion2, look);
    } else if (controllers.find(",memory,") != controllers.npos) {
      each_group(root + "/sys/fs/cgroup/memory", path, kVersion1, look);
    }
  }
}

}  // namespace

Available available_memory(const std::string& root) {
  Available least;
  const auto consider = [&least](std::uint64_t bytes, const std::string& limit) {
    if (bytes < least.bytes) least = {.bytes = bytes, .limit = limit};
  };
  if (const std::uint64_t kib = value_of(small_file(root + "/proc/meminfo"), "MemAvailable:"); kib != kUnknown)
    consider(kib * 1024, "MemAvailable of /proc/meminfo");
  each_group_of_process(
      root, [&](const std::string& folder, std::uint64_t limit, const Names& names, const std::string& name) {
        const std::uint64_t used = number(small_file(folder + names.usage));
        if (used == kUnknown) return;
        // Pages of files that have not been used for a while make room for others.
        const std::uint64_t cached = value_of(small_file(folder + "memory.stat"), names.reclaimable);
        const std::uint64_t held = used - (cached == kUnknown ? 0 : std::min(cached, used));
        consider(limit > held ? limit - held : 0, std::string(names.limit) + " of control group " + name);
      });
  return least;
}

bool strict_overcommit(const std::string& root) {
  return number(small_file(root + "/proc/sys/vm/overcommit_memory")) == 2;
}

std::uint64_t physical_memory(const std::string& root) {
  const std::uint64_t kib = value_of(small_file(root + "/proc/meminfo"), "MemTotal:");
  std::uint64_t bytes = kib == kUnknown ? kUnknown : kib * 1024;
  each_group_of_process(root, [&](const std::string&, std::uint64_t limit, const Names&, const std::string&) {
    bytes = std::min(bytes, limit);
  });
  return bytes == kUnknown ? 0 : bytes;
}

Status Headroom::admit(std::uint64_t bytes) {
  constexpr std::uint64_t kPart = 16;  // of what is available: others on the node allocate, too
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (bytes <= credit_ && now_ns() < valid_until_) {
    credit_ -= bytes;
    return {};
  }
  const Available found = available_memory();
  credit_ = 0;
  if (bytes > found.bytes)
    return fail(MPI_ERR_NO_MEM, "memory.beyond_machine", {{"limit", found.limit}, {"available", found.bytes}});
  credit_ = (found.bytes - bytes) / kPart;
  valid_until_ = now_ns() + kSecond;
  return {};
}

}  // namespace ashlar::memory

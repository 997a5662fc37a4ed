#include "mpiexec/environment.h"

#include <algorithm>
#include <string_view>

namespace ashlar::mpiexec {
namespace {

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.substr(0, name.size()) == name;
}

}  // namespace

bool belongs_to_a_launcher(std::string_view entry) {
  static constexpr std::string_view kNames[] = {
      "ASHLAR__JOB",    "ASHLAR__INFO", "ASHLAR__RANK", "ASHLAR__SIZE", "ASHLAR__LOCAL_RANK",
      "PMIX_NAMESPACE", "PMIX_RANK",    "PMIX_ID",      "PMI_FD",       "PMI_PORT",
      "PMI_RANK",       "PMI_SIZE",     "PMI_SPAWNED",  "PMI_JOBID",    "PMI_ID"};
  if (entry.substr(0, 15) == "PMIX_SERVER_URI") return true;
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) { return names(entry, name); });
}

Environment::Environment(const char* const* base) {
  for (; base && *base; ++base)
    if (!belongs_to_a_launcher(*base)) entries_.emplace_back(*base);
}

void Environment::set(const std::string& name, const std::string& value) {
  for (std::string& entry : entries_)
    if (names(entry, name)) {
      entry = name + "=" + value;
      return;
    }
  entries_.push_back(name + "=" + value);
}

std::string Environment::get(const std::string& name) const {
  for (const std::string& entry : entries_)
    if (names(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

const char* const* Environment::pointers() {
  pointers_.clear();
  pointers_.reserve(entries_.size() + 1);
  for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
  pointers_.push_back(nullptr);
  return pointers_.data();
}

}  // namespace ashlar::mpiexec

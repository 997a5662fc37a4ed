#include "framework/param/job_settings.h"

#include <algorithm>
#include <cstring>

#include "framework/base/hash.h"

namespace ashlar::param {
namespace {

constexpr std::size_t kHead = sizeof(std::uint64_t) + 1;  // the hash, and whether all settings follow
constexpr std::size_t kMostOrigin = 160;                  // a path may be longer than its end is useful

std::string in_words(std::string_view key, std::string_view value, std::string_view origin) {
  std::string words(key);
  words += value.empty() ? " empty" : " " + std::string(value);
  return words + " (" + std::string(origin) + ")";
}

std::string built_in(const std::string& key, const Schema& schema) {
  const Row* const row = schema.find(key);
  const char* const value = row != nullptr ? row->spec->fallback : nullptr;
  if (value == nullptr || *value == '\0') return key + " as built in";
  return in_words(key, value, "built in");
}

}  // namespace

void JobSettings::set(std::string_view key, std::string_view value, std::string_view origin) {
  const auto at = std::lower_bound(settings_.begin(), settings_.end(), key,
                                   [](const Setting& setting, std::string_view k) { return setting.key < k; });
  Setting setting{.key = std::string(key), .value = std::string(value), .origin = std::string(origin)};
  if (setting.origin.size() > kMostOrigin)
    setting.origin = "..." + setting.origin.substr(setting.origin.size() - kMostOrigin);
  if (at != settings_.end() && at->key == key)
    *at = std::move(setting);
  else
    settings_.insert(at, std::move(setting));
}

std::uint64_t JobSettings::hash() const {
  Hash hash;
  for (const Setting& setting : settings_) {
    for (const std::string* const text : {&setting.key, &setting.value}) {
      hash.add(*text);
      hash.add_byte(0);  // "ab", "c" is not "a", "bc"
    }
  }
  return hash.value() == 0 ? 1 : hash.value();
}

std::string JobSettings::publish(std::size_t most) const {
  const std::uint64_t own = hash();
  std::string text(reinterpret_cast<const char*>(&own), sizeof own);
  text += '\1';
  for (const Setting& setting : settings_) {
    const std::size_t length = setting.key.size() + setting.value.size() + setting.origin.size() + 3;
    if (text.size() + length > most) {
      text[sizeof own] = '\0';
      break;
    }
    for (const std::string* part : {&setting.key, &setting.value, &setting.origin}) text.append(*part) += '\0';
  }
  return text;
}

std::uint64_t JobSettings::hash_of(std::string_view published) {
  std::uint64_t hash = 0;
  if (published.size() >= kHead) std::memcpy(&hash, published.data(), sizeof hash);
  return hash;
}

std::vector<JobSettings::Setting> JobSettings::read(std::string_view published, bool* complete) {
  std::vector<Setting> settings;
  *complete = published.size() >= kHead && published[kHead - 1] != '\0';
  published.remove_prefix(std::min(kHead, published.size()));
  const auto part = [&published] {
    const std::size_t end = std::min(published.find('\0'), published.size());
    std::string text(published.substr(0, end));
    published.remove_prefix(std::min(end + 1, published.size()));
    return text;
  };
  while (!published.empty()) {
    Setting setting{.key = part(), .value = part(), .origin = part()};  // in this order
    settings.push_back(std::move(setting));
  }
  return settings;
}

JobSettings::Difference JobSettings::compare(std::string_view published, const Schema& schema) const {
  bool complete = false;
  const std::vector<Setting> theirs = read(published, &complete);
  Difference difference;
  const auto differ = [&](std::string there, std::string here) {
    if (!difference.theirs.empty()) {
      ++difference.more;
      return;
    }
    difference.theirs = std::move(there);
    difference.own = std::move(here);
  };
  auto there = theirs.begin();
  for (auto here = settings_.begin(); here != settings_.end() || there != theirs.end();) {
    const bool only_here = there == theirs.end() || (here != settings_.end() && here->key < there->key);
    const bool only_there = here == settings_.end() || (there != theirs.end() && there->key < here->key);
    if (only_here) {
      if (there == theirs.end() && !complete) break;  // the rest of theirs is not known
      differ(built_in(here->key, schema), in_words(here->key, here->value, here->origin));
      ++here;
    } else if (only_there) {
      differ(in_words(there->key, there->value, there->origin), built_in(there->key, schema));
      ++there;
    } else {
      if (here->value != there->value)
        differ(in_words(there->key, there->value, there->origin), in_words(here->key, here->value, here->origin));
      ++here;
      ++there;
    }
  }
  if (difference.theirs.empty()) differ("other values of parameters", "its own");
  return difference;
}

}  // namespace ashlar::param

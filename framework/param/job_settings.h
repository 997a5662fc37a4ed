#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/param/schema.h"

namespace ashlar::param {

/// The values that all processes of a job must have in common, as far as they are not the built-in ones: each process
/// publishes its own, and compares. Two processes with different values would wait for each other's messages for ever.
class JobSettings {
 public:
  /// Adds a value, or replaces that of the key. `origin` is for people.
  void set(std::string_view key, std::string_view value, std::string_view origin);
  bool empty() const { return settings_.empty(); }

  /// The same number for the same keys and values, in every process.
  std::uint64_t hash() const;
  /// What other processes read: the hash, and the settings as far as `most` bytes go.
  std::string publish(std::size_t most) const;
  /// The hash of what another process published; 0: that is none of ours.
  static std::uint64_t hash_of(std::string_view published);
  /// The first difference between these settings and those that another process published, and how many more there
  /// are: "coll.reference true (--set coll.reference=true)" there, "coll.reference false (built in)" here.
  struct Difference {
    std::string theirs, own;
    int more = 0;
  };
  /// `schema`: where the built-in values stand, as far as it knows the keys.
  Difference compare(std::string_view published, const Schema& schema) const;

 private:
  struct Setting {
    std::string key, value, origin;
  };
  static std::vector<Setting> read(std::string_view published, bool* complete);

  std::vector<Setting> settings_;  // sorted by key
};

}  // namespace ashlar::param

#pragma once
#include <string>
#include <vector>

#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// The environment of one rank: mpiexec's own, without what other launchers left in it, with the changes asked for.
class Environment {
 public:
  /// Copies `environ`-like `base`. Variables through which an outer launcher would claim the ranks are dropped: they
  /// belong to this job now.
  explicit Environment(const char* const* base);

  void set(const std::string& name, const std::string& value);
  std::string get(const std::string& name) const;
  /// NAME=VALUE
  const std::vector<std::string>& entries() const { return entries_; }
  /// For execve; valid until the next change.
  const char* const* pointers();

 private:
  std::vector<std::string> entries_;
  std::vector<const char*> pointers_;
};

/// Whether the variable is one by which a launcher addresses a single rank.
bool belongs_to_a_launcher(std::string_view entry);

}  // namespace ashlar::mpiexec

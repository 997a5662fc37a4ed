#pragma once
#include <cstddef>
#include <string_view>

namespace ashlar::param {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; `limit + 1` when more.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// How many such edits a word of this length may be away from what was meant.
std::size_t edits_allowed(std::size_t length);

/// Collects candidates and keeps the one nearest to what was written.
class Suggestion {
 public:
  explicit Suggestion(std::string_view written);
  void consider(std::string_view candidate);
  /// The nearest candidate, or "" when none is near enough to be what was meant.
  std::string_view best() const { return best_; }

 private:
  std::string_view written_, best_;
  std::size_t distance_;
};

}  // namespace ashlar::param

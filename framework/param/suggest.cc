#include "framework/param/suggest.h"

#include <algorithm>
#include <vector>

namespace ashlar::param {

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return std::min(previous[b.size()], limit + 1);
}

std::size_t edits_allowed(std::size_t length) { return std::clamp<std::size_t>(length / 3, 1, 4); }

namespace {
std::string_view last_part(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}
}  // namespace

Suggestion::Suggestion(std::string_view written) : written_(written), distance_(edits_allowed(written.size()) + 1) {}

void Suggestion::consider(std::string_view candidate) {
  std::size_t distance = edit_distance(written_, candidate, distance_);
  // The right name in the wrong place: "shm.eager_limit", "transport.eager_limit".
  if (distance > 1 && last_part(written_) == last_part(candidate) && last_part(candidate).size() > 3) distance = 1;
  // Cut short: "transport.shm.ring".
  if (distance > 2 && written_.size() > 3 && candidate.starts_with(written_)) distance = 2;
  if (distance >= distance_) return;
  distance_ = distance;
  best_ = candidate;
}

}  // namespace ashlar::param

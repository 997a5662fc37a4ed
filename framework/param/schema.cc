#include "framework/param/schema.h"

#include <strings.h>

#include <algorithm>
#include <cctype>

#include "framework/param/suggest.h"

namespace ashlar::param {
namespace {

bool less(const Row* a, std::string_view b) { return std::string_view(a->key) < b; }

// Whether `name` spells `key` with underscores for dots, in any case.
bool spells(std::string_view name, std::string_view key) {
  if (name.size() != key.size()) return false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char wanted = key[i] == '.' ? '_' : key[i];
    if (std::tolower(static_cast<unsigned char>(name[i])) != std::tolower(static_cast<unsigned char>(wanted)))
      return false;
  }
  return true;
}

}  // namespace

void Schema::add(const Table& table) {
  for (const Row& row : rows_) {
    if (!table.rows.empty() && row.spec == table.rows.data()) return;
  }
  const std::string_view prefix = table.prefix;
  for (const ashlar_param& spec : table.rows) {
    const std::string_view name = spec.name;
    const char* key = spec.name;
    if (!prefix.empty()) {
      char* at = pool_.take(prefix.size() + name.size() + 2);
      key = at;
      at = std::copy(prefix.begin(), prefix.end(), at);
      *at++ = '.';
      at = std::copy(name.begin(), name.end(), at);
      *at = '\0';
    }
    rows_.push_back({key, &spec});
  }
  by_key_.clear();
}

void Schema::index() const {
  if (by_key_.size() == rows_.size()) return;
  by_key_.clear();
  for (const Row& row : rows_) by_key_.push_back(&row);
  std::stable_sort(by_key_.begin(), by_key_.end(),
                   [](const Row* a, const Row* b) { return std::string_view(a->key) < b->key; });
}

const Row* Schema::find(std::string_view key) const {
  index();
  const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key, less);
  return at != by_key_.end() && (*at)->key == key ? *at : nullptr;
}

const Row* Schema::target(const Row* row) const {
  if (!(row->spec->flags & ASHLAR_PARAM_SYNONYM)) return row;
  const Row* meant = find(row->spec->help);
  // A synonym of a synonym, or of nothing, is a mistake of the component's author: the row then stands for itself.
  return meant && !(meant->spec->flags & ASHLAR_PARAM_SYNONYM) ? meant : row;
}

const Row* Schema::find_environment(std::string_view name) const {
  for (const Row& row : rows_) {
    if (spells(name, row.key)) return &row;
  }
  return nullptr;
}

std::string_view Schema::nearest(std::string_view key) const {
  Suggestion suggestion(key);
  for (const Row& row : rows_) suggestion.consider(row.key);
  return suggestion.best();
}

std::string_view Schema::nearest_environment(std::string_view name) const {
  std::string written(name);
  for (char& c : written) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::size_t least = edits_allowed(name.size()) + 1;
  std::string_view best;
  for (const Row& row : rows_) {
    std::string spelled = environment_name(row.key).substr(7);
    for (char& c : spelled) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::size_t distance = edit_distance(written, spelled, least);
    if (distance >= least) continue;
    least = distance;
    best = row.key;
  }
  return best;
}

namespace {

constexpr std::size_t kLongestShown = 120;

}  // namespace

std::string Schema::hint(std::string_view key) const {
  constexpr int kShown = 3;
  if (key.size() > kLongestShown) return "";
  const std::string written(key), group = written + ".";
  std::string members;
  int count = 0;
  for (const Row& row : rows_) {
    if (!std::string_view(row.key).starts_with(group)) continue;
    if (++count <= kShown) members += (members.empty() ? "" : ", ") + std::string(row.key);
  }
  if (count > kShown) members += " and " + std::to_string(count - kShown) + " more";
  if (count > 0) return ", only a group of that name: " + members + " (ashlar_info --params " + written + ")";
  if (const std::string meant(nearest(key)); !meant.empty()) return "; did you mean '" + meant + "'?";
  const std::size_t first = written.find('.');
  const std::size_t second = first == std::string::npos ? first : written.find('.', first + 1);
  if (second == std::string::npos) return "";
  return " (is the component that declares " + written.substr(0, second) + ".* installed?)";
}

std::string Schema::unknown(std::string_view key) const {
  const bool cut = key.size() > kLongestShown;
  return "there is no parameter '" + std::string(key.substr(0, kLongestShown)) + (cut ? "...'" : "'") + hint(key);
}

std::string environment_name(std::string_view key) {
  std::string name = "ASHLAR_";
  for (const char c : key) name += c == '.' ? '_' : c;
  return name;
}

}  // namespace ashlar::param

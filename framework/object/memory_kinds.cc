#include "framework/object/memory_kinds.h"

#include <algorithm>
#include <vector>

namespace ashlar::memory_kinds {
namespace {

using Words = std::vector<std::string_view>;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Words between `separator`s, without those that are empty.
Words split(std::string_view text, char separator) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view word = trimmed(text.substr(0, end)); !word.empty()) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool any_of(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool known(std::string_view kind) {
  const Words parts = split(kind, ':');
  if (parts.empty()) return false;
  if (parts[0] == "system") return parts.size() == 1;
  if (parts[0] != "mpi") return false;
  return std::all_of(parts.begin() + 1, parts.end(), [](std::string_view restrictor) {
    return restrictor == "alloc_mem" || restrictor == "win_allocate" || restrictor == "win_allocate_shared";
  });
}

/// Whether `kind` is `wide` or a part of it: the same kind, and all restrictors of `wide`.
bool part_of(std::string_view kind, std::string_view wide) {
  const Words narrow_parts = split(kind, ':'), wide_parts = split(wide, ':');
  if (narrow_parts.empty() || wide_parts.empty() || narrow_parts[0] != wide_parts[0]) return false;
  return std::all_of(wide_parts.begin() + 1, wide_parts.end(),
                     [&](std::string_view restrictor) { return any_of(narrow_parts, restrictor); });
}

}  // namespace

std::string supported(std::string_view wanted) {
  std::string list;
  Words taken;
  bool has_mpi = false;
  const auto take = [&](std::string_view kind) {
    taken.push_back(kind);
    has_mpi = has_mpi || kind.starts_with("mpi");
    list += (list.empty() ? "" : ",") + std::string(kind);
  };
  for (const std::string_view kind : split(wanted, ','))
    if (known(kind) && !any_of(taken, kind)) take(kind);
  if (!has_mpi) take("mpi");
  if (!any_of(taken, "system")) take("system");
  return list;
}

bool within(std::string_view list, std::string_view of) {
  const Words kinds = split(list, ','), all = split(of, ',');
  return !kinds.empty() && std::all_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
    return std::any_of(all.begin(), all.end(), [&](std::string_view wide) { return part_of(kind, wide); });
  });
}

}  // namespace ashlar::memory_kinds

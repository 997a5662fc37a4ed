#include "mpiexec/allocation.h"

#include <algorithm>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kMostNodes = 1u << 20;
constexpr unsigned kMostCount = 1u << 20;

/// A number of digits alone. Leading zeros belong to a node's name, so the width is told, too.
bool take_number(std::string_view* from, unsigned* value, std::size_t* width = nullptr) {
  std::size_t digits = 0;
  unsigned number = 0;
  while (digits < from->size() && (*from)[digits] >= '0' && (*from)[digits] <= '9' && digits < 9)
    number = number * 10 + static_cast<unsigned>((*from)[digits++] - '0');
  if (digits == 0) return false;
  from->remove_prefix(digits);
  *value = number;
  if (width != nullptr) *width = digits;
  return true;
}

bool take(std::string_view* from, char wanted) {
  if (from->empty() || from->front() != wanted) return false;
  from->remove_prefix(1);
  return true;
}

std::string padded(unsigned number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

/// What stands in a bracket, without it: "01-03,7".
bool expand_bracket(std::string_view list, std::vector<std::string>* numbers) {
  do {
    unsigned first = 0, last = 0;
    std::size_t width = 0;
    if (!take_number(&list, &first, &width)) return false;
    last = first;
    if (take(&list, '-') && !take_number(&list, &last)) return false;
    if (last < first || last - first >= kMostNodes - numbers->size()) return false;
    for (unsigned number = first; number <= last; ++number) numbers->push_back(padded(number, width));
  } while (take(&list, ','));
  return list.empty();
}

/// One word of the list, which may have several brackets: "r[1-2]n[1-3]". The last number counts fastest.
bool expand_word(std::string_view word, std::vector<std::string>* names) {
  std::vector<std::string> so_far{""};
  while (!word.empty()) {
    const std::size_t open = std::min(word.find('['), word.size());
    for (std::string& name : so_far) name += word.substr(0, open);
    word.remove_prefix(open);
    if (word.empty()) break;
    const std::size_t close = word.find(']');
    std::vector<std::string> numbers, longer;
    if (close == std::string_view::npos || !expand_bracket(word.substr(1, close - 1), &numbers)) return false;
    if (so_far.size() * numbers.size() > kMostNodes - names->size()) return false;
    for (const std::string& name : so_far)
      for (const std::string& number : numbers) longer.push_back(name + number);
    so_far = std::move(longer);
    word.remove_prefix(close + 1);
  }
  names->insert(names->end(), so_far.begin(), so_far.end());
  return names->size() <= kMostNodes;
}

const char* variable(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, name.data(), name.size()) == 0 && (*environment)[name.size()] == '=')
      return *environment + name.size() + 1;
  return nullptr;
}

Status wrong(std::string_view name, std::string_view wanted, const char* value) {
  return fail(kErrArg, "host.allocation", {{"name", name}, {"wanted", wanted}, {"value", brief(value)}});
}

}  // namespace

bool expand_nodes(std::string_view list, std::vector<std::string>* names) {
  for (;;) {
    int depth = 0;
    const auto ends = [&depth](char c) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      return c == ',' && depth == 0;
    };
    const auto end = std::find_if(list.begin(), list.end(), ends);
    const auto length = static_cast<std::size_t>(end - list.begin());
    if (length == 0 || depth != 0 || !expand_word(list.substr(0, length), names)) return false;
    if (end == list.end()) return true;
    list.remove_prefix(length + 1);
  }
}

bool expand_counts(std::string_view list, std::vector<unsigned>* counts) {
  do {
    unsigned count = 0, times = 1;
    if (!take_number(&list, &count) || count == 0 || count > kMostCount) return false;
    if (take(&list, '(') && (!take(&list, 'x') || !take_number(&list, &times) || !take(&list, ')'))) return false;
    if (times == 0 || times > kMostNodes - counts->size()) return false;
    counts->insert(counts->end(), times, count);
  } while (take(&list, ','));
  return list.empty();
}

Status read_allocation(const char* const* environment, std::vector<HostSlots>* hosts) {
  static constexpr std::string_view kNodes = "SLURM_JOB_NODELIST";
  const char* const list = variable(environment, kNodes);
  if (list == nullptr || *list == '\0' || variable(environment, "SLURM_JOB_ID") == nullptr) return {};
  std::vector<std::string> names;
  if (!expand_nodes(list, &names)) return wrong(kNodes, "list of nodes such as n[01-03,7],m5", list);
  for (const std::string& name : names) ASHLAR_TRY(read_hosts(name, hosts));
  // Within a step the tasks are those of the step, which may have fewer nodes than the job.
  for (const std::string_view name : {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"}) {
    const char* const value = variable(environment, name);
    std::vector<unsigned> counts;
    if (value == nullptr) continue;
    if (!expand_counts(value, &counts)) return wrong(name, "list of numbers such as 2(x3),1", value);
    if (counts.size() != hosts->size()) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) (*hosts)[i].slots = counts[i];
    break;
  }
  return {};
}

}  // namespace ashlar::mpiexec

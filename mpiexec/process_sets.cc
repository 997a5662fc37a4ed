// The ranks of lists and of process sets (options.h).
#include <cstdlib>
#include <string>
#include <vector>

#include "mpiexec/options.h"

namespace ashlar::mpiexec {

bool expand_ranks(const std::string& list, std::vector<unsigned>* ranks) {
  constexpr unsigned long kMost = 1u << 20;
  for (const char* at = list.c_str();; ++at) {
    unsigned long bounds[3] = {0, 0, 1};  // first, last, step
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && *at != (i == 1 ? '-' : ':')) continue;
      char* end = nullptr;
      if (i > 0) ++at;
      if (*at < '0' || *at > '9') return false;
      bounds[i] = std::strtoul(at, &end, 10);
      if (i == 0) bounds[1] = bounds[0];
      at = end;
    }
    if (bounds[1] < bounds[0] || bounds[1] > kMost || bounds[2] == 0) return false;
    for (unsigned long r = bounds[0]; r <= bounds[1]; r += bounds[2]) ranks->push_back(static_cast<unsigned>(r));
    if (*at == '\0') return true;
    if (*at != ',') return false;
  }
}

std::string Options::process_sets() const {
  std::string all;
  const auto add = [&](const std::string& name, const std::string& ranks) {
    all += (all.empty() ? "" : ";") + name + "=" + ranks;
  };
  for (const auto& [name, ranks] : sets) add(name, ranks);
  unsigned first = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const unsigned last = first + segments[i].ranks - 1;
    const std::string range = std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
    if (!segments[i].set.empty()) add(segments[i].set, range);
    if (segments.size() > 1) add("ashlar://APP/" + std::to_string(i), range);
    first = last + 1;
  }
  return all;
}

}  // namespace ashlar::mpiexec

#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "framework/base/status.h"
#include "framework/coll/algorithm.h"
#include "framework/plugin/component.h"

namespace ashlar::coll {

/// Performance variables count calls by size, in these bins.
inline constexpr int kSizeBins = 5;
inline constexpr const char* kSizeBinNames[kSizeBins] = {"to_64B", "to_4KiB", "to_256KiB", "to_4MiB", "above_4MiB"};
constexpr int size_bin(MPI_Count bytes) {
  return bytes <= 64 ? 0 : bytes <= 4096 ? 1 : bytes <= 256 * 1024 ? 2 : bytes <= 4 * 1024 * 1024 ? 3 : 4;
}

/// A registered algorithm, with its counters.
struct CatalogueEntry {
  const Algorithm* algorithm = nullptr;
  unsigned component;       // number of its component, in the order of preference
  std::uint64_t calls = 0;  // started on this process
  std::uint64_t calls_of_size[kSizeBins] = {};
  bool recorded = false;                      // its first use has a decision record
  std::string pvar_name;                      // "allreduce.ring"
  std::string pvar_names_of_size[kSizeBins];  // "allreduce.ring.to_64B"
};

/// Every algorithm of the components in use, in the order of preference. Filled at start, constant afterwards but for
/// the counters, which any thread may raise.
class Catalogue {
 public:
  /// Adds a component's list. Of two algorithms of one name the earlier component's stays.
  void add(const AlgorithmList& list);
  CatalogueEntry* find(Collective collective, std::string_view name);
  /// The failure for a name that does not exist: MPI_ERR_ARG with the names that do, and the one probably meant.
  Status unknown(Collective collective, const char* name, const char* origin) const;
  std::deque<CatalogueEntry>& entries() { return entries_; }
  unsigned components() const { return components_; }

 private:
  std::deque<CatalogueEntry> entries_;  // a deque: rules and plans hold addresses of its elements
  unsigned components_ = 0;
};

}  // namespace ashlar::coll

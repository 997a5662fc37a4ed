#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "framework/base/status.h"
#include "framework/coll/algorithm.h"
#include "framework/plugin/component.h"

namespace ashlar::coll {

/// A registered algorithm, with what it has done so far.
struct Entry {
  const Algorithm* algorithm = nullptr;
  unsigned component;       // number of its component, in the order of preference
  std::uint64_t calls = 0;  // started on this process
  bool recorded = false;    // its first use has been told
  std::string pvar_name;    // "allreduce.ring"
};

/// Every algorithm of the components in use. Filled at start, constant afterwards but for the counters.
class Catalogue {
 public:
  /// Adds a component's list. Of two algorithms of one name the earlier component's stays.
  void add(const AlgorithmList& list);
  Entry* find(Collective collective, std::string_view name);
  /// For a name that does not exist: a sentence with what there is and what was probably meant.
  Status unknown(Collective collective, const char* name, const char* origin) const;
  std::deque<Entry>& entries() { return entries_; }
  unsigned components() const { return components_; }

 private:
  std::deque<Entry> entries_;
  unsigned components_ = 0;
};

}  // namespace ashlar::coll

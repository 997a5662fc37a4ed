#pragma once
#include <atomic>
#include <cstddef>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/rma/target.h"

namespace ashlar {
class RmaWindow;
}
namespace ashlar::rma {

/// The targets of a window, each of which is made when this process first uses it: a window that talks to its
/// neighbours alone knows them alone. Entries never move.
class TargetTable {
 public:
  TargetTable() = default;
  ~TargetTable();
  TargetTable(const TargetTable&) = delete;
  TargetTable& operator=(const TargetTable&) = delete;

  /// Before anything else, of a window of so many ranks.
  Status prepare(Rank ranks);
  /// nullptr: this process has not used the rank yet. Any thread.
  Target* find(Rank rank) const {
    return entries_.load(std::memory_order_acquire)[rank].load(std::memory_order_acquire);
  }
  /// Makes the entry of a rank that find() did not, or that another thread makes at the same time. Any thread.
  [[gnu::cold]] Status make(RmaWindow& window, Rank rank, Target** out);
  Status find_or_make(RmaWindow& window, Rank rank, Target** out) {
    *out = find(rank);
    return *out != nullptr ? Status() : make(window, rank, out);
  }
  /// Calls look(Target&) with every entry that there is.
  template <class Look>
  void each(Look look) const {
    for (Rank rank = 0; rank < own_; ++rank)
      if (Target* const target = find(rank)) look(*target);
  }

 private:
  using Entry = std::atomic<Target*>;
  static constexpr Rank kEmpty = 1024;
  static const Entry empty[kEmpty];

  Status grow(Rank ranks);

  std::atomic<Entry*> entries_{const_cast<Entry*>(empty)};  // that all windows share, until the first target is used
  Rank own_ = 0;                                            // entries behind that, once they are this window's
};

}  // namespace ashlar::rma

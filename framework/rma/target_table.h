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

/// The targets of a window, in blocks, each of which is made when this process first uses one of its ranks: a window
/// that talks to its neighbours alone costs the same however many ranks it has. Entries never move.
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
    const auto index = static_cast<std::size_t>(rank);
    Target* const block = blocks_.load(std::memory_order_acquire)[index / kBlock].load(std::memory_order_acquire);
    return block != nullptr ? block + index % kBlock : nullptr;
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
    for (std::size_t block = 0; block < count_; ++block)
      if (Target* const first = blocks_.load(std::memory_order_acquire)[block].load(std::memory_order_acquire))
        for (std::size_t i = 0; i < kBlock; ++i)
          if (first[i].copies != nullptr) look(first[i]);
  }

  static constexpr std::size_t kBlock = 4;  // targets

 private:
  using Block = std::atomic<Target*>;
  static constexpr std::size_t kEmpty = 256;  // blocks
  static const Block empty[kEmpty];

  Status grow(Rank ranks);

  std::atomic<Block*> blocks_{const_cast<Block*>(empty)};  // that all windows share, until one of them is made
  std::uint32_t count_ = 0;                                // blocks behind that, once they are this window's
};

}  // namespace ashlar::rma

#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "framework/plugin/component.h"

namespace ashlar::plugin {

/// The rows of one owner, and the blocks that hold their words now. Reading is exact while blocks come and go, takes no
/// lock, and may happen in a signal handler.
class PvarSet {
 public:
  PvarSet(std::string prefix, std::span<const ashlar_pvar_row> rows);
  ~PvarSet();
  PvarSet(const PvarSet&) = delete;
  PvarSet& operator=(const PvarSet&) = delete;

  const std::string& prefix() const { return prefix_; }
  /// Names and texts are good until the owner is gone.
  std::span<const ashlar_pvar_row> rows() const { return rows_; }
  /// False when the owner was unloaded: rows() is empty then, and read() answers what was counted until then.
  bool open() const { return open_.load(std::memory_order_acquire); }

  /// The values of row `row` for `object` (a Comm, or nullptr): the sum over the blocks, and what former blocks have
  /// counted. Any thread, any time.
  void read(std::uint32_t row, const void* object, std::uint64_t* values, std::uint32_t count) const;
  /// Sets a high-water mark back to its level, in every block.
  void lower_mark(std::uint32_t row) const;

 private:
  friend class PvarSets;
  /// What readers see; replaced as a whole.
  struct Blocks {
    std::vector<const void*> now;
    std::vector<std::uint64_t> counted;  // by row: what blocks that are gone have counted
  };
  /// For the duration of a look at the blocks: they stay what they are.
  class Pin;
  /// Makes the spare what readers see, and what they saw the spare.
  void replace();

  const std::string prefix_;
  std::span<const ashlar_pvar_row> rows_;
  std::vector<std::uint8_t> adds_;  // by row: whether its values survive their block
  std::atomic<bool> open_{true};
  std::atomic<Blocks*> blocks_;
  // The next ones. There is always room in it for one block less than readers see: a block leaves without memory.
  std::unique_ptr<Blocks> spare_;
  mutable std::atomic<std::uint32_t> readers_{0};
};

/// Every performance variable of the library and its components. It outlives Process: what was counted can be read
/// after MPI_Finalize. Sets are only added.
class PvarSets {
 public:
  /// Adds a block to the set of `rows`, which is made with the first one. `prefix`: "p2p", "transport.shm".
  void add(std::string_view prefix, std::span<const ashlar_pvar_row> rows, const void* block);
  /// Takes the block away. Its writers have stopped.
  void remove(const ashlar_pvar_row* rows, const void* block);
  /// The first form of rows, of a component or of the kernel. They may go away after close().
  void add(std::string prefix, std::span<const ashlar_pvar> rows);
  /// The rows of `prefix` and their blocks go away.
  void close(std::string_view prefix);

  /// Calls `look` with every set from the `first` on, whose rows stay while it runs; how many there are then.
  template <class Look>
  std::size_t each_from(std::size_t first, Look look) {
    if (first == size_.load(std::memory_order_acquire)) return first;
    const std::lock_guard guard(mutex_);
    for (; first < sets_.size(); ++first) look(sets_[first]);
    return first;
  }

 private:
  PvarSet* find(const ashlar_pvar_row* rows);
  PvarSet& make(std::string_view prefix, std::span<const ashlar_pvar_row> rows);

  std::mutex mutex_;
  std::deque<PvarSet> sets_;  // they never move
  std::deque<std::vector<ashlar_pvar_row>> converted_;
  std::atomic<std::size_t> size_{0};
};

PvarSets& pvar_sets();

}  // namespace ashlar::plugin

#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "framework/base/status.h"

namespace ashlar::memory {

/// What another process of the node must know to map a heap. Travels in messages; all zero: the process has no heap.
struct HeapHandle {
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t nonce = 0;    // stands at the beginning of the heap, too
  std::uint64_t address = 0;  // where it begins in the process that owns it
  std::uint64_t bytes = 0;    // reserved: what a process maps
};

/// Pages of a heap that stay what they are until all that lies in them is freed.
struct LastingPages {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;  // no others have or had it
};

/// Memory of this process that other processes of the node can map: one anonymous file, whose address space is reserved
/// once, and whose pages appear when touched. It has no name in a file system and is gone with the last process that
/// maps it. MPI_Alloc_mem and windows take their memory from it. Any thread.
class Heap {
 public:
  /// The heap of this process; made by the first allocate(), never destroyed, because memory of MPI_Alloc_mem may
  /// outlive MPI_Finalize.
  static Heap& own();

  /// For tests: a heap besides the process's.
  Heap();
  ~Heap();

  /// `bytes` > 0 at a multiple of `alignment` (a power of two). Fails with MPI_ERR_NO_MEM, and its text says which
  /// limit was met; never later with SIGBUS. `zeroed`: the memory is all zero, else it has any contents.
  Status allocate(std::size_t bytes, std::size_t alignment, bool zeroed, void** out);
  /// False: `address` is not what allocate() returned. In the child of a fork it leaves the memory as it is.
  bool free(void* address);
  /// Whether all of [address, address + bytes) lies in the heap. In the child of a fork nothing does.
  bool contains(const void* address, std::size_t bytes) const {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - base_.load(std::memory_order_acquire);
    const std::uint64_t size = bytes_.load(std::memory_order_relaxed);
    return offset < size && bytes <= size - offset;
  }
  /// The pages in which all of [address, address + bytes) lies. False: there are none, or they may go at any time.
  bool lasting(const void* address, std::size_t bytes, LastingPages* out) const;
  /// All zero while there is no heap.
  HeapHandle handle() const;
  /// Why there is no heap and will be none, in words; "" otherwise.
  const char* refused() const;

 private:
  friend struct HeapSetup;  // setup.h
  struct State;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  Status refuse(std::size_t bytes, Status because);

  std::atomic<std::uint64_t> base_{0};
  std::atomic<std::uint64_t> bytes_{0};  // stored before base_
  const std::unique_ptr<State> state_;
};

/// A heap as this process sees it: its own, or another one that it has mapped.
struct MappedHeap {
  std::byte* base = nullptr;  // where `address` lies here
  std::uint64_t address = 0;  // the owner's
  std::uint64_t bytes = 0;

  /// Where the owner's [at, at + length) lies here; nullptr: not in the heap.
  std::byte* find(std::uint64_t at, std::uint64_t length) const {
    return at - address <= bytes && length <= bytes - (at - address) ? base + (at - address) : nullptr;
  }
};

/// The heap behind `handle`, mapped by the first call for it and kept until forget_neighbours(). Fails with
/// MPI_ERR_OTHER: the text says which system call refused. A failure is remembered, so that it is cheap to ask again.
Status map_heap(const HeapHandle& handle, const MappedHeap** out);
/// Unmaps all heaps of other processes. No window exists any more.
void forget_neighbours();

}  // namespace ashlar::memory

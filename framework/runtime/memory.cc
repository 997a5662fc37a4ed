#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_set>

#include "framework/base/bytes_text.h"
#include "framework/base/failure.h"
#include "framework/base/types.h"
#include "framework/memory/heap.h"
#include "framework/object/info.h"
#include "framework/runtime/api.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

/// The memory that MPI_Alloc_mem returned and MPI_Free_mem has not freed: the standard has an error class for wrong
/// addresses, the C library's allocator would end the process, and the heap has blocks of windows, too. It may outlive
/// Process, and is never destroyed, so that it is there at exit too.
struct Allocated {
  std::mutex mutex;  // guards the rest
  std::unordered_set<void*> addresses;
};
Allocated& allocated() {
  static auto* const memory = new Allocated;
  return *memory;
}

Status alignment_of(const Info& info, std::size_t* alignment) {
  const std::string* const wanted = info.find("mpi_minimum_memory_alignment");
  if (!wanted) return {};
  char* end = nullptr;
  const unsigned long long value = std::strtoull(wanted->c_str(), &end, 10);
  if (end == wanted->c_str() || *end != '\0' || value == 0 || (value & (value - 1)) != 0)
    return fail(MPI_ERR_INFO_VALUE, "info.value",
                {{"argument", "info"},
                 {"key", "mpi_minimum_memory_alignment"},
                 {"value", *wanted},
                 {"wanted", "a power of two"}});
  *alignment = std::max<std::size_t>(*alignment, value);
  return {};
}

/// Why the heap was not taken, for --explain.
void record_private(std::size_t bytes, const char* because, const char* setting) {
  Process* const process = Process::current();
  if (!process) return;
  process->registry.records().add({.topic = "memory",
                                   .subject = "MPI_Alloc_mem of " + bytes_text(bytes),
                                   .chosen = "memory of this process alone",
                                   .because = because,
                                   .lost = "the heap, which other processes of the node can map",
                                   .setting = setting});
}

bool wants_heap() {
  const Process* const process = Process::current();
  return !process || process->heap_setup.config.alloc_mem == memory::kFromHeap;
}

/// nullptr: there is none.
void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (wants_heap()) {
    const Status refused = memory::Heap::own().allocate(bytes, alignment, /*zeroed=*/false, &memory);
    if (refused.ok()) return memory;
    record_private(bytes, refused.text(), "memory.heap_reserve, memory.heap_limit");
  }
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void give_back(void* memory) {
  if (!memory::Heap::own().free(memory)) std::free(memory);
}

}  // namespace

Status alloc_mem(MPI_Count size, Info* info, void* baseptr) {
  if (size < 0)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "size"}, {"value", size}, {"wanted", "0 or more"}});
  std::size_t alignment = kCacheLine;
  if (info) ASHLAR_TRY(alignment_of(*info, &alignment));
  void* const memory = allocate(std::max<std::size_t>(static_cast<std::size_t>(size), 1), alignment);
  if (!memory) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "MPI_Alloc_mem"}, {"bytes_wanted", size}});
  {
    const std::lock_guard guard(allocated().mutex);
    allocated().addresses.insert(memory);
  }
  std::memcpy(baseptr, &memory, sizeof memory);
  return {};
}

Status free_mem(void* base) {
  {
    const std::lock_guard guard(allocated().mutex);
    if (allocated().addresses.erase(base) == 0)
      return fail(MPI_ERR_BASE, "memory.not_ours", {{"argument", "base"}, {"value", static_cast<const void*>(base)}});
  }
  give_back(base);
  return {};
}

}  // namespace ashlar::runtime

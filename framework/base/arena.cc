#include "framework/base/arena.h"

#include <sys/mman.h>

#include <mutex>

#include "framework/base/sanitizers.h"

#ifdef ASHLAR_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace ashlar {
namespace {

std::mutex arena_mutex;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kChunk = 64 * 1024;  // made writable at a time: few mprotect calls, little committed memory

}  // namespace

std::uintptr_t Arena::base_ = 0;
std::atomic<std::size_t> Arena::used_{0};
std::size_t Arena::reserved_ = 0;

void* Arena::grow(std::size_t bytes) noexcept {
  const std::lock_guard guard(arena_mutex);
  if (base_ == 0) {
    // Address space only. A process under RLIMIT_AS gets the largest part that fits.
    for (std::size_t size = std::size_t{1} << 36; size >= (std::size_t{1} << 24); size >>= 1) {
      void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) continue;
      base_ = reinterpret_cast<std::uintptr_t>(at);
      reserved_ = size;
      break;
    }
    if (base_ == 0) return nullptr;
  }
  bytes = (bytes + kPage - 1) / kPage * kPage;
  const std::size_t used = used_.load(std::memory_order_relaxed);
  if (bytes > reserved_ - used) return nullptr;
  static std::size_t writable = 0;
  if (used + bytes > writable) {
    std::size_t wanted = (used + bytes + kChunk - 1) / kChunk * kChunk;
    if (wanted > reserved_) wanted = reserved_;
    if (mprotect(reinterpret_cast<void*>(base_ + writable), wanted - writable, PROT_READ | PROT_WRITE) != 0)
      return nullptr;
#ifdef ASHLAR_ASAN
    // What only an object of ours points to is not lost: the leak checker does not look into mappings by itself.
    __lsan_register_root_region(reinterpret_cast<void*>(base_ + writable), wanted - writable);
#endif
    writable = wanted;
  }
  void* result = reinterpret_cast<void*>(base_ + used);
  used_.store(used + bytes, std::memory_order_relaxed);
  return result;
}

}  // namespace ashlar

// The library's code for shared memory, compiled so that each of its atomic instructions calls a function here: the
// instrumentation of the thread sanitizer, of which this program has these functions and nothing else. Before each
// instruction another virtual rank may run, so ranks meet between any two of them and not only where they wait.
#include <atomic>
#include <cstdint>
#include <cstring>

#include "tests/sim/rma/fibers.h"

namespace ashlar::sim {
namespace {

constexpr std::uint64_t kOneIn = 3;

/// What runs outside of a fiber, such as the making of a window, runs alone.
void step() {
  if (!Fibers::is_inside()) return;
  Fibers& fibers = Fibers::current();
  if (fibers.random(kOneIn) == 0) fibers.yield();
}

// One thread: the order of the instruction has nothing to say.
template <class Word>
std::atomic_ref<Word> word(const volatile Word* at) {
  step();
  return std::atomic_ref<Word>(*const_cast<Word*>(at));
}

}  // namespace
}  // namespace ashlar::sim

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler chose these names.
#define ASHLAR_STEPS(bits)                                                                                           \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* at, int) {                      \
    return ashlar::sim::word(at).load();                                                                             \
  }                                                                                                                  \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* at, std::uint##bits##_t value, int) {               \
    ashlar::sim::word(at).store(value);                                                                              \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* at, std::uint##bits##_t value,    \
                                                     int) {                                                          \
    return ashlar::sim::word(at).exchange(value);                                                                    \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile std::uint##bits##_t* at, std::uint##bits##_t value,   \
                                                      int) {                                                         \
    return ashlar::sim::word(at).fetch_add(value);                                                                   \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_sub(volatile std::uint##bits##_t* at, std::uint##bits##_t value,   \
                                                      int) {                                                         \
    return ashlar::sim::word(at).fetch_sub(value);                                                                   \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_and(volatile std::uint##bits##_t* at, std::uint##bits##_t value,   \
                                                      int) {                                                         \
    return ashlar::sim::word(at).fetch_and(value);                                                                   \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_or(volatile std::uint##bits##_t* at, std::uint##bits##_t value,    \
                                                     int) {                                                          \
    return ashlar::sim::word(at).fetch_or(value);                                                                    \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                                    \
      volatile std::uint##bits##_t* at, std::uint##bits##_t expected, std::uint##bits##_t value, int, int) {         \
    ashlar::sim::word(at).compare_exchange_strong(expected, value);                                                  \
    return expected;                                                                                                 \
  }                                                                                                                  \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* at, std::uint##bits##_t* expected, \
                                                    std::uint##bits##_t value, int, int) {                           \
    return ashlar::sim::word(at).compare_exchange_strong(*expected, value) ? 1 : 0;                                  \
  }                                                                                                                  \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* at, std::uint##bits##_t* expected,   \
                                                  std::uint##bits##_t value, int, int) {                             \
    return ashlar::sim::word(at).compare_exchange_strong(*expected, value) ? 1 : 0;                                  \
  }

extern "C" {
ASHLAR_STEPS(8)
ASHLAR_STEPS(16)
ASHLAR_STEPS(32)
ASHLAR_STEPS(64)
void __tsan_atomic_thread_fence(int) { ashlar::sim::step(); }
void __tsan_atomic_signal_fence(int) {}

// Instructions that are not atomic, and the frames of functions.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
#define ASHLAR_PLAIN(bytes)                   \
  void __tsan_read##bytes(void*) {}           \
  void __tsan_write##bytes(void*) {}          \
  void __tsan_unaligned_read##bytes(void*) {} \
  void __tsan_unaligned_write##bytes(void*) {}
ASHLAR_PLAIN(1)
ASHLAR_PLAIN(2)
ASHLAR_PLAIN(4)
ASHLAR_PLAIN(8)
ASHLAR_PLAIN(16)
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) { return std::memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) { return std::memmove(to, from, bytes); }
void* __tsan_memset(void* at, int value, unsigned long bytes) { return std::memset(at, value, bytes); }
void __tsan_read_range(void*, unsigned long) {}
void __tsan_write_range(void*, unsigned long) {}
}
// NOLINTEND(bugprone-reserved-identifier)

#include "framework/memory/heap.h"

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <string>

#include "framework/base/bytes_text.h"
#include "framework/base/failure.h"
#include "framework/base/sanitizers.h"
#include "framework/memory/pvars.h"
#include "framework/memory/setup.h"
#include "framework/memory/space.h"
#include "framework/plugin/records.h"

#ifdef ASHLAR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace ashlar::memory {

constinit HeapCounters heap_counters;

namespace {

#ifdef ASHLAR_ASAN
// Beyond its end and after its life a block is poisoned, and what only a block points to is not lost.
constexpr std::uint64_t kBeyond = SmallBlocks::kUnit;
void begin_life(Range block, std::size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(block.begin), bytes);
  ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(block.begin + bytes), block.bytes - bytes);
  __lsan_register_root_region(reinterpret_cast<void*>(block.begin), block.bytes);
}
void end_life(std::uint64_t begin, std::uint64_t bytes) {
  if (bytes == 0) return;
  __lsan_unregister_root_region(reinterpret_cast<void*>(begin), bytes);
  ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(begin), bytes);
}
#else
constexpr std::uint64_t kBeyond = 0;
void begin_life(Range, std::size_t) {}
void end_life(std::uint64_t, std::uint64_t) {}
#endif

}  // namespace

struct Heap::State {
  std::mutex mutex;  // guards the rest
  HeapSetup setup;
  Space space;
  HeapCounters counters_of_test;
  HeapCounters* counters = &counters_of_test;
  bool made = false;
  bool forked = false;  // this process is the child of the one that made it
  std::string refused;
  HeapHandle handle;

  /// Makes the heap, if it is not there yet. When that fails `refused` says why there will be none.
  Status make();
  Status refusal() const { return fail(MPI_ERR_NO_MEM, "memory.heap_none", {{"lower", refused}}); }
  void record(const std::string& because);
  std::uint64_t limit() const {
    const std::uint64_t all = space.backing().bytes();
    return setup.config.heap_limit == 0 ? all : std::min(setup.config.heap_limit, all);
  }
  /// Names the setting that a block beyond limit() meets.
  Status beyond_limit() const;
};

Status Heap::State::make() {
  if (made) return {};
  if (!refused.empty()) return refusal();
  const std::uint64_t wanted = setup.config.heap_reserve;
  const std::uint64_t reserve = wanted != 0 ? wanted : reserve_for(setup.processes, physical_memory());
  const Status opened = space.open(reserve);
  made = opened.ok();
  if (!made) {
    refused = opened.text();
    record(refused);
    return opened;
  }
  const Backing& backing = space.backing();
  handle = {.pid = getpid(),
            .fd = backing.fd(),
            .nonce = backing.nonce(),
            .address = reinterpret_cast<std::uint64_t>(backing.base()),
            .bytes = backing.bytes()};
  counters->reserved.set(backing.bytes());
  counters->limit_is(limit());
  record(backing.bytes() < reserve ? "limits of the process allow no more than that of " + bytes_text(reserve)
         : wanted != 0             ? "memory.heap_reserve says so"
                                   : "by the physical memory, and the processes of the node that map each other's");
  return {};
}

Status Heap::State::beyond_limit() const {
  const std::uint64_t most = limit();
  if (most == space.backing().bytes()) return fail(MPI_ERR_NO_MEM, "memory.heap_narrow", {{"size", bytes_text(most)}});
  const std::uint64_t used = counters->bytes.now.get();
  return fail(MPI_ERR_NO_MEM, "memory.heap_limit", {{"used", bytes_text(used)}, {"most", bytes_text(most)}});
}

void Heap::State::record(const std::string& because) {
  if (!setup.records) return;
  setup.records->add({.topic = "memory",
                      .subject = "the heap of this process",
                      .chosen = made ? bytes_text(space.backing().bytes()) + " of address space" : "none",
                      .because = because,
                      .setting = "memory.heap_reserve"});
}

void HeapSetup::apply(Heap& heap) const {
  Heap::State& state = *heap.state_;
  const std::lock_guard guard(state.mutex);
  state.setup = *this;
  if (state.made) state.counters->limit_is(state.limit());
}

Heap::Heap() : state_(new State) {}
Heap::~Heap() = default;

Heap& Heap::own() {
  static Heap* const heap = [] {
    auto* const made = new Heap;
    made->state_->counters = &heap_counters;
    return made;
  }();
  return *heap;
}

// A child has a copy of the tables, but the memory itself is the parent's: blocks that both gave out would overlap.
void Heap::before_fork() { own().state_->mutex.lock(); }
void Heap::after_fork_in_parent() { own().state_->mutex.unlock(); }
void Heap::after_fork_in_child() {
  State& state = *own().state_;
  state.forked = true;
  state.handle = {};
  state.refused = "this process was forked from the one that has it";
  own().bytes_.store(0, std::memory_order_relaxed);
  state.mutex.unlock();
}

Status Heap::refuse(std::size_t bytes, Status because) {
  state_->counters->refused.add();
  return fail(MPI_ERR_NO_MEM, "memory.heap_refused", {{"bytes_wanted", bytes}, {"lower", because.text()}});
}

Status Heap::allocate(std::size_t bytes, std::size_t alignment, bool zeroed, void** out) try {
  State& state = *state_;
  if (this == &own()) {
    static const bool watched = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    (void)watched;
  }
  const std::lock_guard guard(state.mutex);
  if (state.forked) return refuse(bytes, state.refusal());
  if (const Status made = state.make(); !made.ok()) return refuse(bytes, made);
  if (base_.load(std::memory_order_relaxed) == 0) {
    bytes_.store(state.handle.bytes, std::memory_order_relaxed);
    base_.store(state.handle.address, std::memory_order_release);
  }
  const std::uint64_t used = state.counters->bytes.now.get();
  const std::uint64_t limit = state.limit();
  if (used > limit || bytes > limit - used) return refuse(bytes, state.beyond_limit());
  Range block;
  bool fresh = false;
  const Status placed = state.space.place(bytes + kBeyond, alignment, state.setup.config, &block, &fresh);
  if (!placed.ok()) return refuse(bytes, placed);
  state.counters->raise(block.bytes);
  state.counters->blocks.add();
  state.counters->kept.set(state.space.kept());
  begin_life(block, bytes);
  if (zeroed && !fresh) state.space.zero(block.begin, bytes);
  *out = reinterpret_cast<void*>(block.begin);
  return {};
} catch (const std::bad_alloc&) {
  return refuse(bytes, fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the tables of the heap"}}));
}

bool Heap::free(void* address) {
  State& state = *state_;
  const std::lock_guard guard(state.mutex);
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  if (state.forked) return state.made && state.space.bytes_at(begin) != 0;
  end_life(begin, state.space.bytes_at(begin));
  const std::uint64_t bytes = state.space.release(begin, state.setup.config);
  if (bytes == 0) return false;
  state.counters->bytes.lower(bytes);
  state.counters->blocks.subtract();
  state.counters->kept.set(state.space.kept());
  return true;
}

bool Heap::lasting(const void* address, std::size_t bytes, LastingPages* out) const {
  if (!contains(address, bytes)) return false;
  const std::lock_guard guard(state_->mutex);
  if (state_->forked) return false;
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const Range pages = state_->space.pages_around(begin, &out->serial);
  if (pages.bytes == 0 || bytes > pages.end() - begin) return false;
  out->address = pages.begin;
  out->bytes = pages.bytes;
  return true;
}

HeapHandle Heap::handle() const {
  const std::lock_guard guard(state_->mutex);
  return state_->handle;
}

const char* Heap::refused() const {
  const std::lock_guard guard(state_->mutex);
  return state_->refused.c_str();
}

}  // namespace ashlar::memory

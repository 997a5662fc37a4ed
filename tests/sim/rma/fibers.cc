#include "tests/sim/rma/fibers.h"

#include <sys/mman.h>

#include <cstdlib>

#include "framework/base/sanitizers.h"

#if defined(ASHLAR_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ashlar::sim {
namespace {

constexpr std::size_t kStack = 256 << 10;  // of address space; what is not touched takes no memory

#if defined(ASHLAR_ASAN)
void switching(void** shadow, const void* to, std::size_t bytes) { __sanitizer_start_switch_fiber(shadow, to, bytes); }
void switched(void* shadow, const void** from, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(shadow, from, bytes);
}
void forget(void* stack) { __asan_unpoison_memory_region(stack, kStack); }
#else
void switching(void**, const void*, std::size_t) {}
void switched(void*, const void**, std::size_t*) {}
void forget(void*) {}
#endif

}  // namespace

constinit Fibers* Fibers::current_ = nullptr;

Fibers::Fibers(int ranks, std::uint64_t seed, Options options)
    : options_(options), engine_(seed), knows_(static_cast<std::size_t>(ranks)) {
  current_ = this;
  for (int rank = 0; rank < ranks; ++rank) {
    fibers_.push_back(std::make_unique<Fiber>());
    if (rank != options.dies) unaware_.push_back(rank);
  }
}

Fibers::~Fibers() {
  for (const auto& fiber : fibers_) {
    if (fiber->stack == nullptr) continue;
    forget(fiber->stack);
    munmap(fiber->stack, kStack);
  }
  current_ = nullptr;
}

void Fibers::enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(high) << 32 | low);
  switched(nullptr, &self.scheduler_stack_, &self.scheduler_bytes_);
  const Rank rank = self.running_;
  self.part_(rank);
  Fiber& fiber = *self.fibers_[static_cast<std::size_t>(rank)];
  fiber.done = true;
  self.leave(fiber, true);
}

void Fibers::leave(Fiber& fiber, bool last) {
  switching(last ? nullptr : &fiber.shadow, scheduler_stack_, scheduler_bytes_);
  swapcontext(&fiber.context, &scheduler_);
  switched(fiber.shadow, &scheduler_stack_, &scheduler_bytes_);
}

void Fibers::yield() {
  const Rank rank = running_;
  ready(rank);
  leave(*fibers_[static_cast<std::size_t>(rank)], false);
}

void Fibers::block() { leave(*fibers_[static_cast<std::size_t>(running_)], false); }

void Fibers::ready(Rank rank) {
  Fiber& fiber = *fibers_[static_cast<std::size_t>(rank)];
  if (fiber.done || fiber.listed || dead(rank)) return;
  fiber.listed = true;
  ready_.push_back(rank);
}

void Fibers::resume(Rank rank) {
  Fiber& fiber = *fibers_[static_cast<std::size_t>(rank)];
  if (fiber.stack == nullptr) {
    fiber.stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber.stack == MAP_FAILED) std::abort();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  running_ = rank;
  switching(&scheduler_shadow_, fiber.stack, kStack);
  swapcontext(&scheduler_, &fiber.context);
  switched(scheduler_shadow_, nullptr, nullptr);
  running_ = -1;
}

/// One rank more hears of the death.
bool Fibers::spread_the_news() {
  if (!died_ || unaware_.empty()) return false;
  const std::size_t first = random(unaware_.size());
  for (std::size_t i = 0; i < unaware_.size(); ++i) {
    const std::size_t at = (first + i) % unaware_.size();
    const Rank rank = unaware_[at];
    if (!hears(rank)) continue;
    unaware_[at] = unaware_.back();
    unaware_.pop_back();
    knows_[static_cast<std::size_t>(rank)] = 1;
    ready(rank);
    return true;
  }
  return false;
}

bool Fibers::run(const std::function<void(Rank)>& part) {
  part_ = part;
  for (std::size_t rank = 0; rank < fibers_.size(); ++rank) ready(static_cast<Rank>(rank));
  for (;; ++steps_) {
    if (options_.dies >= 0 && !died_ && steps_ >= options_.dies_after) died_ = true;
    const std::uint64_t choice = random(8);
    if (choice < 3 && event()) continue;
    if (choice == 3 && spread_the_news()) continue;
    if (ready_.empty()) {
      if (event() || spread_the_news()) continue;
      break;
    }
    const std::size_t at = random(ready_.size());
    const Rank rank = ready_[at];
    ready_[at] = ready_.back();
    ready_.pop_back();
    Fiber& fiber = *fibers_[static_cast<std::size_t>(rank)];
    fiber.listed = false;
    if (!dead(rank) && !fiber.done) resume(rank);
  }
  return stuck().empty();
}

std::string Fibers::stuck() const {
  std::string text;
  for (std::size_t rank = 0; rank < fibers_.size() && text.size() < 200; ++rank)
    if (!fibers_[rank]->done && !dead(static_cast<Rank>(rank))) text += "rank " + std::to_string(rank) + " waits; ";
  return text;
}

}  // namespace ashlar::sim

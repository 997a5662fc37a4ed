#include "framework/mpit/marks.h"

#include <algorithm>
#include <mutex>

namespace ashlar::mpit::marks {
namespace {

std::mutex mutex;  // guards Pvar::watchers and the marks of handles that watch

std::uint64_t mark_of(const PvarHandle& handle) { return handle.words[0].base.load(std::memory_order_relaxed); }

std::uint64_t in_library(const Pvar& pvar) {
  std::uint64_t value = 0;
  pvar.read(nullptr, &value, 1);
  return value;
}

/// Gives the library's mark to all that watch, and sets it back to the level.
void collect(Pvar& pvar) {
  const std::uint64_t most = in_library(pvar);
  for (PvarHandle* watcher : pvar.watchers)
    watcher->words[0].base.store(std::max(mark_of(*watcher), most), std::memory_order_relaxed);
  for (const Pvar::Source* s = &pvar.source; s != nullptr; s = s->next.load(std::memory_order_acquire))
    s->set->lower_mark(s->row);
}

}  // namespace

void start(PvarHandle& handle, std::uint64_t from) {
  const std::lock_guard guard(mutex);
  collect(*handle.pvar);
  handle.words[0].base.store(from, std::memory_order_relaxed);
  handle.pvar->watchers.push_back(&handle);
}

std::uint64_t most(const PvarHandle& handle) {
  const std::lock_guard guard(mutex);
  return std::max(mark_of(handle), in_library(*handle.pvar));
}

std::uint64_t stop(PvarHandle& handle) {
  const std::lock_guard guard(mutex);
  const std::uint64_t seen = std::max(mark_of(handle), in_library(*handle.pvar));
  std::erase(handle.pvar->watchers, &handle);
  return seen;
}

std::uint64_t restart(PvarHandle& handle, std::uint64_t from) {
  const std::lock_guard guard(mutex);
  const std::uint64_t seen = std::max(mark_of(handle), in_library(*handle.pvar));
  collect(*handle.pvar);
  handle.words[0].base.store(from, std::memory_order_relaxed);
  return seen;
}

std::uint64_t level(const PvarHandle& handle) {
  const std::lock_guard guard(mutex);
  collect(*handle.pvar);
  return in_library(*handle.pvar);
}

}  // namespace ashlar::mpit::marks

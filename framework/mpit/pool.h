#pragma once
#include <mutex>
#include <new>
#include <unordered_set>
#include <vector>

#include "framework/base/slab.h"

namespace ashlar::mpit {

/// The objects behind one kind of handle, and which of them exist: the last MPI_T_finalize ends them all. Any thread.
template <class T>
class HandlePool {
 public:
  /// nullptr: there are `limit` of them. Throws std::bad_alloc.
  T* take(std::size_t limit) {
    const std::lock_guard guard(mutex_);
    if (storage_.out() >= limit) return nullptr;
    T* const made = storage_.take();
    if (made == nullptr) throw std::bad_alloc();
    try {
      alive_.insert(made);
    } catch (...) {
      storage_.put(made);
      throw;
    }
    return made;
  }
  void put(T* object) {
    const std::lock_guard guard(mutex_);
    if (alive_.erase(object) == 1) storage_.put(object);
  }
  /// How many exist; any thread, no lock.
  std::uint64_t out() const { return storage_.out_level().get(); }
  std::vector<T*> all() {
    const std::lock_guard guard(mutex_);
    return {alive_.begin(), alive_.end()};
  }

 private:
  std::mutex mutex_;
  Slab<T> storage_;
  std::unordered_set<T*> alive_;
};

}  // namespace ashlar::mpit

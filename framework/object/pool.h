#pragma once
#include <mutex>
#include <utility>

#include "framework/base/slab.h"

namespace ashlar {

/// A slab behind a mutex, for objects made and freed outside the message path (groups, infos, error handlers, types).
template <class T>
class Pool {
 public:
  constexpr explicit Pool(PoolName name = PoolName::kAnother) : slab_(name) {}
  template <class... Arguments>
  T* take(Arguments&&... arguments) {
    const std::lock_guard guard(mutex_);
    return slab_.take(std::forward<Arguments>(arguments)...);
  }
  void put(T* object) {
    const std::lock_guard guard(mutex_);
    slab_.put(object);
  }
  const Counter& out_level() const { return slab_.out_level(); }
  std::size_t out() {
    const std::lock_guard guard(mutex_);
    return slab_.out();
  }

 private:
  std::mutex mutex_;
  Slab<T> slab_;
};

}  // namespace ashlar

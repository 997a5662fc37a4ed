#pragma once
#include <mutex>
#include <utility>

#include "framework/base/slab.h"
#include "framework/object/limit.h"

namespace ashlar {

/// A slab behind a mutex, for objects made and freed outside the message path (groups, infos, error handlers, types).
/// Of each kind there are object.limit at most.
template <class T>
class Pool {
 public:
  constexpr explicit Pool(PoolName name = PoolName::kAnother) : slab_(name), name_(name) {}
  template <class... Arguments>
  T* take(Arguments&&... arguments) {
    const std::size_t most = object::limit.load(std::memory_order_relaxed);
    const std::lock_guard guard(mutex_);
    if (slab_.out() >= most) {
      tell_limit_met(name_, most);
      return nullptr;
    }
    return slab_.take(std::forward<Arguments>(arguments)...);
  }
  void put(T* object) {
    const std::lock_guard guard(mutex_);
    slab_.put(object);
  }
  const Counter& out_level() const { return slab_.out_level(); }

 private:
  std::mutex mutex_;
  Slab<T> slab_;
  const PoolName name_;
};

}  // namespace ashlar

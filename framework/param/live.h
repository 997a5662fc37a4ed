#pragma once
#include <mutex>

namespace ashlar::param {

/// The parameters of a room that tools write while the process runs. Every reader gets a copy, on any thread. It is for
/// rooms whose calls hold no lane's lock; those with a state in each lane keep their values there, under its lock.
template <class Config>
class Live {
 public:
  explicit Live(const Config& values) : values_(values) {}

  Config get() const {
    const std::lock_guard guard(mutex_);
    return values_;
  }
  void set(const Config& values) {
    const std::lock_guard guard(mutex_);
    values_ = values;
  }

 private:
  mutable std::mutex mutex_;
  Config values_;
};

}  // namespace ashlar::param

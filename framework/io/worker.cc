#include "framework/io/worker.h"

#include <system_error>

#include "framework/base/blocked_signals.h"
#include "framework/base/list.h"
#include "framework/progress/lane.h"
#include "framework/progress/outside.h"

namespace ashlar::io {

Worker::~Worker() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Worker::start_thread() {
  const BlockedSignals for_the_program;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
  }
  return !threads_.empty();
}

void Worker::push(Job& job) ASHLAR_NO_THREAD_SAFETY {
  job.done.store(false, std::memory_order_relaxed);
  job.poll = &Worker::look;
  job.lane->pollers.push_back(&job);
  progress::raised_from_outside.fetch_add(1, std::memory_order_relaxed);
  bool served = true;
  {
    const std::lock_guard guard(mutex_);
    if (idle_ <= queue_.size() && threads_.size() < most_) served = start_thread();
    if (served) queue_.push_back(&job);
  }
  if (served) {
    wanted_.notify_one();
    return;
  }
  job.run();
  job.done.store(true, std::memory_order_relaxed);
}

bool Worker::look(Poller& poller) {
  Job& job = static_cast<Job&>(poller);
  if (!job.done.load(std::memory_order_acquire)) return false;
  List<Poller>::remove(&job);
  progress::raised_from_outside.fetch_sub(1, std::memory_order_relaxed);
  job.over();
  return true;
}

void Worker::work() {
  std::unique_lock guard(mutex_);
  for (;;) {
    ++idle_;
    wanted_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    Job& job = *queue_.front();
    queue_.pop_front();
    guard.unlock();
    Lane& lane = *job.lane;
    job.run();
    job.done.store(true, std::memory_order_release);  // the job may be gone from here on
    progress::raise_from_outside(lane);
    guard.lock();
  }
}

}  // namespace ashlar::io

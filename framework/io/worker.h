#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/base/status.h"
#include "framework/progress/gate.h"

namespace ashlar::io {

/// A transfer that a thread of the library makes. The program's threads learn of its end in their progress rounds.
struct Job : Poller {
  virtual ~Job() = default;
  /// Moves the data: without any lock, on another thread. May block.
  virtual void run() = 0;
  /// Under the lane's lock, in a progress round, when run() has returned. The job may be gone afterwards.
  virtual void over() = 0;

  Lane* lane = nullptr;  // set before the job is handed over; lives longer
  std::atomic<bool> done{false};
};

/// The threads that make transfers for nonblocking calls: started when there is something to do, `most` of them. They
/// have all signals blocked, hold no lock of the library, and end with this object.
class Worker {
 public:
  explicit Worker(unsigned most) : most_(most) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Under the lock of the job's lane. Where the system gives no thread the job is made here.
  void push(Job& job);

 private:
  void work();
  bool start_thread();
  static bool look(Poller& poller);

  const unsigned most_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable wanted_;
  std::deque<Job*> queue_;
  std::vector<std::thread> threads_;
  unsigned idle_ = 0;
  bool stopping_ = false;
};

}  // namespace ashlar::io

#include "framework/base/event.h"

#include <algorithm>
#include <new>
#include <vector>

#include "framework/base/clock.h"
#include "framework/base/lane_lock.h"

namespace ashlar::event {

std::atomic<bool> listened{false};
constinit Counters counters;

namespace {

constexpr std::size_t kUsualCapacity = 256;

std::atomic<Sink> sink_in_force{nullptr};
std::atomic<Observer> observer_in_force{nullptr};
std::atomic<void*> observer_self{nullptr};
std::atomic<std::size_t> capacity{kUsualCapacity};

/// What one thread has raised and not delivered, oldest first.
class Queue {
 public:
  bool empty() const { return next_ == end_; }
  /// A place at the end, or nullptr when there is no room.
  Record* add() noexcept {
    if (empty()) start_again();
    if (end_ == records_.size() && !grow()) return nullptr;
    return &records_[end_++];
  }
  Record take() noexcept { return records_[next_++]; }
  std::size_t size() const { return end_ - next_; }

 private:
  // An empty queue is cut to its limit, which may have fallen since it grew.
  void start_again() noexcept {
    next_ = end_ = 0;
    if (const std::size_t most = capacity.load(std::memory_order_relaxed); records_.size() > most) {
      records_.resize(most);
      records_.shrink_to_fit();
    }
  }
  bool grow() noexcept {
    const std::size_t most = capacity.load(std::memory_order_relaxed);
    if (next_ > 0) {
      std::move(records_.begin() + static_cast<std::ptrdiff_t>(next_), records_.end(), records_.begin());
      end_ -= next_;
      next_ = 0;
      return true;
    }
    if (records_.size() >= most) return false;
    try {
      records_.resize(std::min(most, records_.empty() ? 16 : 2 * records_.size()));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  std::vector<Record> records_;
  std::size_t next_ = 0, end_ = 0;
};

/// Where the thread is.
struct Thread {
  Queue queue;
  unsigned lanes = 0;  // locks of lanes that it holds; those from before anybody listened are not counted
  unsigned holds = 0;
  bool delivering = false;
};
thread_local Thread thread;

}  // namespace

void raise(Type& type, const void* object, std::initializer_list<std::uint64_t> values) noexcept {
  const std::uint32_t listeners = type.listeners.load(std::memory_order_relaxed);
  if ((listeners & Type::kObserved) != 0)
    if (const Observer observer = observer_in_force.load(std::memory_order_acquire))
      observer(observer_self.load(std::memory_order_relaxed), type, {values.begin(), values.size()});
  if (listeners == Type::kObserved) return;
  Record* const record = thread.queue.add();
  counters.raised.fetch_add(1, std::memory_order_relaxed);
  if (record == nullptr) {
    counters.dropped.fetch_add(1, std::memory_order_relaxed);
    type.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  counters.queued.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t waiting = thread.queue.size();
  for (std::uint64_t most = counters.most.load(std::memory_order_relaxed);
       waiting > most && !counters.most.compare_exchange_weak(most, waiting, std::memory_order_relaxed);) {
  }
  *record = {.type = &type, .time = now_ns(), .object = object};
  std::copy_n(values.begin(), std::min(values.size(), kMostFields), record->values);
}

void deliver_now() noexcept {
  if (thread.lanes != 0 || thread.holds != 0 || thread.delivering || thread.queue.empty()) return;
  const Sink sink = sink_in_force.load(std::memory_order_acquire);
  // A tool that calls MPI raises more: that comes after what is there.
  thread.delivering = true;
  while (!thread.queue.empty()) {
    const Record record = thread.queue.take();
    counters.queued.fetch_sub(1, std::memory_order_relaxed);
    if (sink != nullptr) sink(record, LaneLock::threads_on() ? Safety::kThreadSafe : Safety::kNone);
  }
  thread.delivering = false;
}

Hold::Hold() noexcept {
  if (listened.load(std::memory_order_relaxed)) ++thread.holds;
}

Hold::~Hold() {
  if (!listened.load(std::memory_order_relaxed)) return;
  if (thread.holds > 0) --thread.holds;
  deliver_now();
}

void listen(Sink sink) noexcept {
  sink_in_force.store(sink, std::memory_order_release);
  listened.store(true, std::memory_order_relaxed);
  LaneLock::enable_events();
}

void observe(Observer observer, void* self) noexcept {
  observer_self.store(self, std::memory_order_relaxed);
  observer_in_force.store(observer, std::memory_order_release);
}

void set_queue_capacity(std::size_t events) noexcept { capacity.store(events, std::memory_order_relaxed); }

void entered_lane() noexcept { ++thread.lanes; }

void left_lane() noexcept {
  if (thread.lanes > 0) --thread.lanes;
  if (!thread.queue.empty()) deliver_now();
}

}  // namespace ashlar::event

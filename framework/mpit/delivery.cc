// From raised events to the callbacks of tools. A callback runs on the thread that raised the event, without any lock
// of ours: it may call MPI_T, and where nothing restricts it MPI; it may free its own registration.
#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "framework/mpit/ending.h"
#include "framework/mpit/limits.h"
#include "framework/mpit/pool.h"
#include "framework/mpit/pool_pvars.h"
#include "framework/mpit/registration.h"

namespace ashlar::mpit {
namespace {

constinit std::mutex mutex;  // guards every registration

struct State {
  HandlePool<Registration> registrations;
  std::vector<Registration*> wanted;  // those that are not freed
};
State& state() {
  static State& made = *new State;
  return made;
}

thread_local const Instance* innermost = nullptr;

MPI_T_event_registration handle_of(Registration& r) { return reinterpret_cast<MPI_T_event_registration>(&r); }

/// One callback that is to be called.
struct Wanted {
  Registration* registration;
  Registration::Callback callback;
  MPI_T_event_dropped_cb_function* dropped;
};

/// The registrations that hear of an event, which are kept until release(). Throws std::bad_alloc before it has kept
/// any.
std::vector<Wanted> hearing(const event::Type& type, const void* object, bool any_object, int level) {
  std::vector<Wanted> found;
  const std::lock_guard guard(mutex);
  found.reserve(state().wanted.size());
  for (Registration* r : state().wanted) {
    if (r->type != &type) continue;
    if (!any_object && type.bind == event::Bind::kComm && r->bound.comm() != object) continue;
    const Registration::Callback* const callback = r->callback_for(level);
    if (callback == nullptr) continue;
    ++r->running;
    found.push_back({.registration = r, .callback = *callback, .dropped = r->dropped});
  }
  return found;
}

/// Ends a registration that the tool has freed, once none of its callbacks runs.
void end(Registration& r, MPI_T_cb_safety safety) {
  if (r.when_freed != nullptr) r.when_freed(handle_of(r), safety, r.free_data);
  state().registrations.put(&r);
}

void release(Registration& r, MPI_T_cb_safety safety) {
  bool last = false;
  {
    const std::lock_guard guard(mutex);
    last = --r.running == 0 && r.freed;
  }
  if (last) end(r, safety);
}

/// Tells of events that found no room, before the next one of their source.
void tell_dropped(MPI_T_cb_safety safety, int level) {
  for (event::Type* type : event::kernel_types()) {
    if (type->dropped.load(std::memory_order_relaxed) == 0) continue;
    const std::vector<Wanted> all = hearing(*type, nullptr, true, level);
    const std::uint64_t count = type->dropped.exchange(0, std::memory_order_relaxed);
    for (const Wanted& w : all) {
      if (w.dropped != nullptr)
        w.dropped(static_cast<MPI_Count>(count), handle_of(*w.registration), 0, safety, w.callback.user_data);
      release(*w.registration, safety);
    }
  }
}

void deliver_to_all(const event::Record& record, event::Safety level) {
  const auto safety = static_cast<MPI_T_cb_safety>(level);
  const int place = level_of(safety);
  tell_dropped(safety, place);
  for (const Wanted& w : hearing(*record.type, record.object, false, place)) {
    const Instance instance{.record = &record, .outer = innermost};
    innermost = &instance;
    w.callback.function(reinterpret_cast<MPI_T_event_instance>(const_cast<Instance*>(&instance)),
                        handle_of(*w.registration), safety, w.callback.user_data);
    innermost = instance.outer;
    release(*w.registration, safety);
  }
}

/// An event that cannot be delivered for want of memory is a dropped one.
void deliver(const event::Record& record, event::Safety level) noexcept {
  try {
    deliver_to_all(record, level);
  } catch (const std::bad_alloc&) {
    record.type->dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

int level_of(MPI_T_cb_safety safety) {
  const auto* const at = std::find(std::begin(kLevels), std::end(kLevels), safety);
  return at != std::end(kLevels) ? static_cast<int>(at - kLevels) : -1;
}

const Instance* resolve(MPI_T_event_instance handle) {
  for (const Instance* at = innermost; at != nullptr; at = at->outer)
    if (static_cast<const void*>(at) == static_cast<const void*>(handle)) return at;
  return nullptr;
}

event::Type* event_type(int index) {
  return index >= 0 && index < event_count() ? event::kernel_types()[static_cast<std::size_t>(index)] : nullptr;
}

int event_count() { return static_cast<int>(event::kernel_types().size()); }

Registration* make_registration(event::Type& type, const Bound& bound) {
  Registration* const made = state().registrations.take(limits().handle_limit);
  if (made == nullptr) return nullptr;
  made->type = &type;
  made->bound = bound;
  event::listen(deliver);
  const std::lock_guard guard(mutex);
  try {
    state().wanted.push_back(made);
  } catch (...) {
    state().registrations.put(made);
    throw;
  }
  return made;
}

bool set_callback(Registration& r, int level, Registration::Callback callback) {
  const std::lock_guard guard(mutex);
  if (r.freed) return false;
  const bool listened = r.listens();
  r.callbacks[static_cast<std::size_t>(level)] = callback;
  if (r.listens() && !listened) r.type->listeners.fetch_add(1, std::memory_order_relaxed);
  if (!r.listens() && listened) r.type->listeners.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool set_dropped(Registration& r, MPI_T_event_dropped_cb_function* function) {
  const std::lock_guard guard(mutex);
  if (r.freed) return false;
  r.dropped = function;
  return true;
}

bool is_freed(const Registration& r) {
  const std::lock_guard guard(mutex);
  return r.freed;
}

bool free_registration(Registration& r, void* user_data, MPI_T_event_free_cb_function* function) {
  {
    const std::lock_guard guard(mutex);
    if (r.freed) return false;
    if (r.listens()) r.type->listeners.fetch_sub(1, std::memory_order_relaxed);
    r.freed = true;
    r.when_freed = function;
    r.free_data = user_data;
    std::erase(state().wanted, &r);
    if (r.running != 0) return true;
  }
  end(r, MPI_T_CB_REQUIRE_NONE);
  return true;
}

std::uint64_t registrations() { return state().registrations.out(); }

void end_registrations() {
  for (Registration* r : state().registrations.all()) (void)free_registration(*r, nullptr, nullptr);
}

}  // namespace ashlar::mpit

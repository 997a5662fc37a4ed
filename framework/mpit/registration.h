#pragma once
#include <mpi.h>

#include <array>

#include "framework/base/event.h"
#include "framework/mpit/bound.h"
#include "framework/mpit/handles.h"

namespace ashlar::mpit {

/// The four levels of MPI_T_cb_safety, the least demanding first.
inline constexpr MPI_T_cb_safety kLevels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                              MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
inline constexpr int kLevelCount = 4;
/// The place of a level in kLevels, or -1.
int level_of(MPI_T_cb_safety safety);

/// Behind MPI_T_event_registration: what a tool wants to hear of one event type. Guarded by the mutex of delivery.cc.
struct Registration : Tagged {
  Registration() : Tagged(Tag::kRegistration) {}

  struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };
  event::Type* type = nullptr;
  Bound bound;
  std::array<Callback, kLevelCount> callbacks;  // by level
  MPI_T_event_dropped_cb_function* dropped = nullptr;

  unsigned running = 0;  // callbacks of it that run now
  bool freed = false;    // by the tool: it gets no more events, and ends with the last callback that runs
  MPI_T_event_free_cb_function* when_freed = nullptr;
  void* free_data = nullptr;

  /// The callback that can cope with `level` and demands least, or nullptr.
  const Callback* callback_for(int level) const {
    for (int i = level; i < kLevelCount; ++i)
      if (callbacks[static_cast<std::size_t>(i)].function != nullptr) return &callbacks[static_cast<std::size_t>(i)];
    return nullptr;
  }
  bool listens() const { return callback_for(0) != nullptr; }
};

/// What a callback may look at while it runs, on its thread.
struct Instance {
  const event::Record* record;
  const Instance* outer;  // of a callback that this one interrupts
};
/// The instance behind the handle, or nullptr: it is none of a callback that runs on this thread.
const Instance* resolve(MPI_T_event_instance handle);

/// All event types, by their indices.
event::Type* event_type(int index);
int event_count();

/// Makes a registration; it gets no events yet. nullptr: there are too many.
Registration* make_registration(event::Type& type, const Bound& bound);
/// Changes of one; false: the tool has freed it.
bool set_callback(Registration& registration, int level, Registration::Callback callback);
bool set_dropped(Registration& registration, MPI_T_event_dropped_cb_function* function);
bool free_registration(Registration& registration, void* user_data, MPI_T_event_free_cb_function* function);
bool is_freed(const Registration& registration);

}  // namespace ashlar::mpit

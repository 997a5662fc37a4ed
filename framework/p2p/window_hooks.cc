#include "framework/p2p/window_hooks.h"

#include "framework/p2p/lane_state.h"

namespace ashlar::p2p {

void hook_windows(Lane& lane, const WindowHooks* hooks) { lane.p2p->windows = hooks; }

const WindowHooks* window_hooks(const Lane& lane) { return lane.p2p->windows; }

void on_window_message(Lane& lane, const ashlar_am& am) {
  const WindowHooks* const hooks = lane.p2p->windows;
  if (hooks != nullptr) hooks->deliver(hooks->windows, am);
}

}  // namespace ashlar::p2p

#pragma once
#include "framework/progress/lane.h"

namespace ashlar::p2p {

/// What a lane of point-to-point passes on to the room of windows (framework/rma), which lies further right.
struct WindowHooks {
  /// Takes kRma. Inside a handler.
  void (*deliver)(void* windows, const ashlar_am&);
  /// Called once for each peer that has failed.
  void (*peer_failed)(void* windows, PeerId);
  void* windows;
};
/// `hooks` stay valid until others replace them; nullptr: the lane has no windows, and drops their messages.
void hook_windows(Lane& lane, const WindowHooks* hooks) ASHLAR_REQUIRES(lane.lock);
/// Those in force.
const WindowHooks* window_hooks(const Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// Handler of kRma.
void on_window_message(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p

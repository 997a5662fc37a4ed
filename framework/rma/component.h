#pragma once
#include <cstdint>
#include <span>

#include "framework/base/status.h"
#include "framework/rma/card.h"
#include "framework/rma/way.h"

namespace ashlar {
class Comm;
class RmaWindow;
}  // namespace ashlar
namespace ashlar::rma {

class Sync;

/// The table of a component of the framework `rma` (version 1: C++, pinned by build_id). Components are asked in the
/// order of their priorities; the last one serves everything.
struct Component {
  std::uint32_t size = sizeof(Component);
  const char* name = nullptr;
  /// Before the cards are exchanged: adds to this process's own. A failure is that of the window. nullptr: nothing.
  Status (*prepare)(RmaWindow& window, Card& own) = nullptr;
  /// After it, with the cards of all processes: whether this one can take part in the window's Sync of this component.
  /// A failure says why it cannot; all processes then ask the next component. nullptr: the component has no Sync.
  Status (*joins)(RmaWindow& window, std::span<const Card> cards) = nullptr;
  /// Makes the Sync where this process can take part; it is the component's, and stays until close(). It is not used
  /// when another process cannot take part, or fails. Where they have a block of memory together, one of them writes
  /// down the areas there and all set `window.areas`, which are read once all have returned.
  Status (*make_sync)(RmaWindow& window, std::span<const Card> cards, Sync** out) = nullptr;
  /// After all that: lets the processes of `comm`, those of the window, tell each other more. Collective; whether there
  /// is anything to tell follows from the cards alone. A process on which something has failed takes part and says so,
  /// so a failure is one of `comm`. nullptr: there never is anything.
  Status (*share)(RmaWindow& window, Comm& comm, std::span<const Card> cards) = nullptr;
  /// Finds the ways to a target, on its first use: sets what it can of memory, copies, updates (only where they are
  /// nullptr). A failure says why it left one of them open, which the next component then may find.
  Status (*reach)(RmaWindow& window, Target& target) = nullptr;
  /// Of a dynamic window: `window.regions` has changed. nullptr: the component looks there when it needs to. Called
  /// under the lane's lock.
  Status (*attached)(RmaWindow& window) = nullptr;
  /// A message for the window has come: makes what takes it in, `window.wire`. nullptr: the component sends none.
  /// Called under the lane's lock, maybe before the window is made.
  Status (*listen)(RmaWindow& window) = nullptr;
  /// The window goes away, and its Sync with it; no operation is under way.
  void (*close)(RmaWindow& window) = nullptr;
};

}  // namespace ashlar::rma

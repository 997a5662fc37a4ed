#pragma once
#include "framework/rma/way.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

struct Component;

/// The way of targets that no operation has gone to yet: finds one, and goes on with that.
extern const Way unresolved;

/// Asks the components how to reach the target; leaves a decision record for the first target of a kind. The first
/// takes the lane's lock, the caller of the second has it.
[[gnu::cold]] Status resolve_now(RmaWindow& window, Target& target);
[[gnu::cold]] Status resolve(RmaWindow& window, Target& target);

/// Lets the components behind `after` find what ways they have to the target (Component::reach): what `after` cannot do
/// itself goes there.
Status reach_by_later(RmaWindow& window, const Component& after, Target& target);

/// The way of an operation that has to know whether it will be complete when its call returns.
inline const Way* copies_of(RmaWindow& window, Target& target) {
  if (target.copies == &unresolved) static_cast<void>(resolve_now(window, target));
  return target.copies;
}
inline const Way* updates_of(RmaWindow& window, Target& target) {
  if (target.updates == &unresolved) static_cast<void>(resolve_now(window, target));
  return target.updates;
}

/// Waits for the operations of this process to a target, or to all of them; `remote`: at the targets as well. `call`:
/// the user's, for reports.
Status flush_outstanding(const char* call, RmaWindow& window, Target& target, bool remote);
inline Status flush(const char* call, RmaWindow& window, Target& target, bool remote) {
  return target.outstanding ? flush_outstanding(call, window, target, remote) : Status();
}
Status flush_all_outstanding(const char* call, RmaWindow& window, bool remote);
inline Status flush_all(const char* call, RmaWindow& window, bool remote) {
  return window.any_outstanding ? flush_all_outstanding(call, window, remote) : Status();
}

}  // namespace ashlar::rma

#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "framework/object/object.h"

/// check.leaks: which handles the program holds, and which of its lines got them. The entry points report every handle
/// that they give out or take back while `watching` is set. It is set from the start, because handles exist before the
/// parameter is known, and cleared by stop_watching() when the parameter is off.
namespace ashlar::leaks {

extern std::atomic<bool> watching;
void stop_watching();

/// The user got a handle to `object` (or an attribute key) from `call`, which the code at `caller` made. Any thread.
[[gnu::cold]] void made(const Object& object, const char* call, const void* caller);
[[gnu::cold]] void made_key(int keyval, const char* call, const void* caller);
/// The program no longer has the handle. One that was never reported means nothing.
[[gnu::cold]] void gone(const void* object);
[[gnu::cold]] void gone_key(int keyval);

struct Handle {
  const Object* object;  // nullptr: the attribute key `keyval`
  int keyval;
  Kind kind;
  const char* call;
  const void* caller;
};
/// The handles of objects that are still there, in the order in which they were got. Requests complete without a report
/// to this room, so `wanted` decides which of them the program still has. With `forget`, those listed are not listed
/// again.
std::vector<Handle> held(const std::function<bool(const Handle&)>& wanted, bool forget);

}  // namespace ashlar::leaks

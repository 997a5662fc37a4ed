#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "framework/object/object.h"

/// check.leaks: which handles the user holds, and where he got them. The entry points tell of every handle that they
/// give out or take back while `watching` is set. It is set from the start, because handles can be had before the
/// parameter is known, until somebody says that nobody wants to know.
namespace ashlar::leaks {

extern std::atomic<bool> watching;
void stop_watching();

/// The user got a handle to `object` (or an attribute key) from `call`, which the code at `caller` made. Any thread.
[[gnu::cold]] void made(const Object& object, const char* call, const void* caller);
[[gnu::cold]] void made_key(int keyval, const char* call, const void* caller);
/// A handle is not the user's any more. One that was never told of means nothing.
[[gnu::cold]] void gone(const void* object);
[[gnu::cold]] void gone_key(int keyval);

struct Handle {
  const Object* object;  // nullptr: the attribute key `keyval`
  int keyval;
  Kind kind;
  const char* call;
  const void* caller;
};
/// The handles of objects that are still there, in the order in which they were got. Requests complete without a word
/// to us: who knows them tells which still are the user's. With `forget`, those listed are not listed again.
std::vector<Handle> held(const std::function<bool(const Handle&)>& wanted, bool forget);

}  // namespace ashlar::leaks

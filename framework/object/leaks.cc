#include "framework/object/leaks.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace ashlar::leaks {

std::atomic<bool> watching{true};

namespace {

struct Got {
  Handle handle;
  std::uint64_t number;  // of all handles given out
};

constinit std::mutex mutex;
std::uint64_t handles_given = 0;
/// By the object's address. An object may be got several times (MPI_Comm_group), and an address serves one object after
/// another; handles of one address are given back oldest first.
std::unordered_map<std::uintptr_t, std::vector<Got>>& table() {
  static auto* const handles = new std::unordered_map<std::uintptr_t, std::vector<Got>>;  // there at exit too
  return *handles;
}

// Objects are aligned to cache lines, so that a key's number is no object's address.
std::uintptr_t place_of_key(int keyval) { return static_cast<std::uintptr_t>(static_cast<unsigned>(keyval)) << 1 | 1; }

void add(std::uintptr_t place, const Handle& handle) {
  const std::lock_guard guard(mutex);
  if (!watching.load(std::memory_order_relaxed)) return;
  std::vector<Got>& here = table()[place];
  // A request is handed out once: what was here before it is gone.
  if (handle.kind == Kind::kRequest) here.clear();
  here.push_back({handle, handles_given++});
}

void remove(std::uintptr_t place) {
  const std::lock_guard guard(mutex);
  const auto found = table().find(place);
  if (found == table().end()) return;
  found->second.erase(found->second.begin());
  if (found->second.empty()) table().erase(found);
}

}  // namespace

void stop_watching() {
  const std::lock_guard guard(mutex);
  watching.store(false, std::memory_order_relaxed);
  table().clear();
}

void made(const Object& object, const char* call, const void* caller) {
  if (object.predefined != 0) return;
  add(reinterpret_cast<std::uintptr_t>(&object), {&object, 0, object.kind, call, caller});
}

void made_key(int keyval, const char* call, const void* caller) {
  add(place_of_key(keyval), {nullptr, keyval, Kind::kComm, call, caller});
}

void gone(const void* object) { remove(reinterpret_cast<std::uintptr_t>(object)); }

void gone_key(int keyval) { remove(place_of_key(keyval)); }

std::vector<Handle> held(const std::function<bool(const Handle&)>& wanted, bool forget) {
  const std::lock_guard guard(mutex);
  std::vector<Got> found;
  for (auto at = table().begin(); at != table().end();) {
    std::erase_if(at->second, [&](const Got& got) {
      // Freed storage says so in its first word, and stays readable.
      const bool there = got.handle.object == nullptr || got.handle.object->kind == got.handle.kind;
      if (there && !wanted(got.handle)) return false;
      if (there) found.push_back(got);
      return forget || !there;
    });
    at = at->second.empty() ? table().erase(at) : std::next(at);
  }
  std::sort(found.begin(), found.end(), [](const Got& a, const Got& b) { return a.number < b.number; });
  std::vector<Handle> handles;
  for (const Got& got : found) handles.push_back(got.handle);
  return handles;
}

}  // namespace ashlar::leaks

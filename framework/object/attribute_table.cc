#include "framework/object/attribute_table.h"

#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "framework/base/failure.h"

namespace ashlar::attribute {
namespace {

constexpr int kFirstKeyval = 1024;  // above every predefined key of the ABI

constinit std::mutex mutex;
// One table for the keys of all object classes.
std::map<int, Keyval*>& table() {
  static std::map<int, Keyval*> keys;
  return keys;
}
int next_keyval = kFirstKeyval;
std::uint64_t attributes_set = 0;

void drop(Keyval* key) {
  if (--key->references > 0) return;
  table().erase(key->id);
  delete key;
}

Status find(int keyval, Kind of, const char* class_name, Keyval** key) {
  const auto found = table().find(keyval);
  if (found == table().end() || (found->second->freed && found->second->references == 0))
    return fail(MPI_ERR_KEYVAL, "key.unknown",
                {{"argument", "keyval"},
                 {"value", keyval},
                 {"note", keyval == MPI_KEYVAL_INVALID ? "That is MPI_KEYVAL_INVALID" : ""}});
  if (found->second->of != of)
    return fail(MPI_ERR_KEYVAL, "key.other_kind", {{"argument", "keyval"}, {"value", keyval}, {"kind", class_name}});
  *key = found->second;
  return {};
}

/// A callback's return code as the failure of the call: the code itself is what the standard asks to be returned.
Status callback_failed(int code, const char* which) {
  return fail(code, "callback.failed", {{"function", which}, {"owner", "an attribute"}, {"value", code}});
}

// Calls a callback as what it is.
template <class Call>
int as_class(Kind of, Call&& call) {
  switch (of) {
    case Kind::kDatatype:
      return call.template operator()<MPI_Datatype>();
    case Kind::kWin:
      return call.template operator()<MPI_Win>();
    default:
      return call.template operator()<MPI_Comm>();
  }
}

/// Lets go of the lock while a callback runs.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

Status call_delete(const Holder& holder, const AttributeSet::Entry& entry) {
  if (!entry.key->remove) return {};
  const int code = as_class(holder.of, [&]<class Handle>() {
    const auto function = reinterpret_cast<int (*)(Handle, int, void*, void*)>(entry.key->remove);
    return function(static_cast<Handle>(holder.handle), entry.key->id, entry.value, entry.key->extra_state);
  });
  return code == MPI_SUCCESS ? Status{} : callback_failed(code, "delete");
}

Status call_copy(const Holder& holder, const AttributeSet::Entry& entry, void** value, int* keep) {
  const int code = as_class(holder.of, [&]<class Handle>() {
    const auto function = reinterpret_cast<int (*)(Handle, int, void*, void*, void*, int*)>(entry.key->copy);
    return function(static_cast<Handle>(holder.handle), entry.key->id, entry.key->extra_state, entry.value, value,
                    keep);
  });
  return code == MPI_SUCCESS ? Status{} : callback_failed(code, "copy");
}

auto entry_of(AttributeSet& set, int keyval) {
  return std::find_if(set.entries.begin(), set.entries.end(), [&](auto& e) { return e.key->id == keyval; });
}
/// One that may be deleted: its delete function is not running.
auto settled_entry_of(AttributeSet& set, int keyval) {
  return std::find_if(set.entries.begin(), set.entries.end(),
                      [&](auto& e) { return e.key->id == keyval && !e.leaving; });
}

/// Calls the delete function of `entry`, which stays where it is unless the function or another thread takes it away;
/// `*at` is where it lies afterwards, or the end.
template <class At>
Status delete_value(const Holder& holder, std::unique_lock<std::mutex>& lock, At* at) {
  (*at)->leaving = true;
  const AttributeSet::Entry entry = **at;
  Status deleted;
  ++entry.key->references;  // the function may take the attribute away
  ++entry.key->deleting;
  {
    const Unlocked unlocked(lock);
    deleted = call_delete(holder, entry);
  }
  --entry.key->deleting;
  drop(entry.key);
  *at = std::find_if(holder.set->entries.begin(), holder.set->entries.end(),
                     [&](const auto& e) { return e.number == entry.number; });
  if (*at != holder.set->entries.end()) (*at)->leaving = false;
  return deleted;
}

}  // namespace

Status create_keyval(Kind of, Function copy, bool copy_is_dup, Function remove, void* extra_state, int* keyval) {
  const std::lock_guard guard(mutex);
  auto* key = new Keyval;
  key->id = next_keyval++;
  key->of = of;
  key->copy = copy;
  key->copy_is_dup = copy_is_dup;
  key->remove = remove;
  key->extra_state = extra_state;
  table()[key->id] = key;
  *keyval = key->id;
  return {};
}

Status free_keyval(Kind of, const char* class_name, int* keyval) {
  const std::lock_guard guard(mutex);
  Keyval* key = nullptr;
  ASHLAR_TRY(find(*keyval, of, class_name, &key));
  // Programs free a key in its delete function, to be rid of it with its last attribute, and have freed it before.
  if (key->freed && key->deleting == 0)
    return fail(MPI_ERR_KEYVAL, "key.freed", {{"argument", "keyval"}, {"value", *keyval}});
  if (!std::exchange(key->freed, true)) drop(key);
  *keyval = MPI_KEYVAL_INVALID;
  return {};
}

Status set(const Holder& holder, int keyval, void* value) {
  std::unique_lock lock(mutex);
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, holder.of, holder.class_name, &key));
  // The key's place in the set is kept, and the key itself while the callback runs.
  if (auto at = settled_entry_of(*holder.set, keyval); at != holder.set->entries.end()) {
    ASHLAR_TRY(delete_value(holder, lock, &at));
    if (at != holder.set->entries.end()) {
      at->value = value;
      return {};
    }
    ASHLAR_TRY(find(keyval, holder.of, holder.class_name, &key));  // the callback took it away
  }
  ++key->references;
  holder.set->entries.push_back({key, value, ++attributes_set});
  return {};
}

Status get(const Holder& holder, int keyval, void* value, int* flag) {
  const std::lock_guard guard(mutex);
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, holder.of, holder.class_name, &key));
  const auto at = entry_of(*holder.set, keyval);
  *flag = at != holder.set->entries.end();
  if (*flag) *static_cast<void**>(value) = at->value;
  return {};
}

Status remove(const Holder& holder, int keyval) {
  std::unique_lock lock(mutex);
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, holder.of, holder.class_name, &key));
  auto at = settled_entry_of(*holder.set, keyval);
  if (at == holder.set->entries.end())
    return fail(MPI_ERR_KEYVAL, "key.no_attribute",
                {{"argument", "keyval"}, {"value", keyval}, {"object", holder.name}});
  ASHLAR_TRY(delete_value(holder, lock, &at));
  if (at == holder.set->entries.end()) return {};  // the callback did it
  holder.set->entries.erase(at);
  drop(key);
  return {};
}

Status copy_all(const Holder& from, const Holder& to) {
  std::unique_lock lock(mutex);
  const auto entries = from.set->entries;  // callbacks may change the set while it is walked
  for (const auto& entry : entries) ++entry.key->references;
  Status copied;
  for (const auto& entry : entries) {
    void* value = entry.value;
    int keep = entry.key->copy_is_dup;
    if (entry.key->copy && copied.ok()) {
      const Unlocked unlocked(lock);
      copied = call_copy(from, entry, &value, &keep);
    }
    if (copied.ok() && keep)
      to.set->entries.push_back({entry.key, value, ++attributes_set});
    else
      drop(entry.key);
  }
  return copied;
}

Status delete_all(const Holder& holder) {
  std::unique_lock lock(mutex);
  for (;;) {
    auto& entries = holder.set->entries;
    const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const auto& e) { return !e.leaving; });
    if (last == entries.rend()) return {};
    auto at = std::prev(last.base());
    Keyval* const key = at->key;
    ASHLAR_TRY(delete_value(holder, lock, &at));
    if (at == entries.end()) continue;
    entries.erase(at);
    drop(key);
  }
}

}  // namespace ashlar::attribute

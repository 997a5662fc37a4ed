#include "framework/object/attribute_api.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "framework/object/attributes.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/handle.h"

namespace ashlar::attribute {

Predefined predefined;

namespace {

constexpr int kFirstKeyval = 1024;  // above every predefined key of the ABI

// One table for the keys of all object classes; recursive because a callback may call attribute functions.
constinit std::recursive_mutex mutex;
std::map<int, Keyval*>& table() {
  static std::map<int, Keyval*> keys;
  return keys;
}
int next_keyval = kFirstKeyval;

void drop(Keyval* key) {
  if (--key->references > 0) return;
  table().erase(key->id);
  delete key;
}

Status find(int keyval, Kind of, const char* class_name, Keyval** key) {
  const auto found = table().find(keyval);
  if (found == table().end() || (found->second->freed && found->second->references == 0))
    return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, which is no attribute key%s", keyval,
                        keyval == MPI_KEYVAL_INVALID ? " (it is MPI_KEYVAL_INVALID)" : "");
  if (found->second->of != of)
    return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, which is not a key for %s", keyval, class_name);
  *key = found->second;
  return {};
}

/// The address of a predefined attribute's value, or nullptr when it is not set; false: not a predefined key.
bool predefined_value(int keyval, int** value) {
  switch (keyval) {
    case MPI_TAG_UB: *value = &predefined.tag_ub; return true;
    case MPI_HOST: *value = &predefined.host; return true;
    case MPI_IO: *value = &predefined.io; return true;
    case MPI_WTIME_IS_GLOBAL: *value = &predefined.wtime_is_global; return true;
    case MPI_APPNUM: *value = predefined.has_appnum ? &predefined.appnum : nullptr; return true;
    case MPI_UNIVERSE_SIZE: *value = predefined.has_universe_size ? &predefined.universe_size : nullptr; return true;
    case MPI_LASTUSEDCODE:
      predefined.last_used_code = last_used_code();
      *value = &predefined.last_used_code;
      return true;
    default: return false;
  }
}

Status refuse_predefined(int keyval) {
  int* value = nullptr;
  if (!predefined_value(keyval, &value)) return {};
  return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, a predefined key whose value cannot be changed", keyval);
}

/// A callback's return code as the failure of the call: the code itself is what the standard asks to be returned.
Status callback_failed(int code, const char* which) {
  return Status::fail(code, "the attribute %s function returned error code %d", which, code);
}

Status call_delete(Comm& comm, const AttributeSet::Entry& entry) {
  if (!entry.key->remove) return {};
  const auto function = reinterpret_cast<MPI_Comm_delete_attr_function*>(entry.key->remove);
  const int code = function(to_handle<MPI_Comm>(&comm), entry.key->id, entry.value, entry.key->extra_state);
  return code == MPI_SUCCESS ? Status{} : callback_failed(code, "delete");
}

auto entry_of(AttributeSet& set, int keyval) {
  return std::find_if(set.entries.begin(), set.entries.end(), [&](auto& e) { return e.key->id == keyval; });
}

}  // namespace

Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                          void* extra_state) {
  const std::lock_guard guard(mutex);
  auto* key = new Keyval;
  key->id = next_keyval++;
  key->of = Kind::kComm;
  key->copy_is_dup = copy == MPI_COMM_DUP_FN;
  if (copy != MPI_COMM_NULL_COPY_FN && !key->copy_is_dup) key->copy = reinterpret_cast<void (*)()>(copy);
  if (remove != MPI_COMM_NULL_DELETE_FN) key->remove = reinterpret_cast<void (*)()>(remove);
  key->extra_state = extra_state;
  table()[key->id] = key;
  *keyval = key->id;
  return {};
}

Status comm_free_keyval(int* keyval) {
  const std::lock_guard guard(mutex);
  ASHLAR_TRY(refuse_predefined(*keyval));
  Keyval* key = nullptr;
  ASHLAR_TRY(find(*keyval, Kind::kComm, "communicators", &key));
  if (key->freed)
    return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, which has been freed already", *keyval);
  key->freed = true;
  drop(key);
  *keyval = MPI_KEYVAL_INVALID;
  return {};
}

Status comm_set(Comm& comm, int keyval, void* value) {
  const std::lock_guard guard(mutex);
  ASHLAR_TRY(refuse_predefined(keyval));
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, Kind::kComm, "communicators", &key));
  const auto at = entry_of(comm.attributes, keyval);
  if (at != comm.attributes.entries.end()) {
    ASHLAR_TRY(call_delete(comm, *at));
    // The callback may have changed the set.
    const auto again = entry_of(comm.attributes, keyval);
    if (again != comm.attributes.entries.end()) {
      again->value = value;
      return {};
    }
  }
  ++key->references;
  comm.attributes.entries.push_back({key, value});
  return {};
}

Status comm_get(Comm& comm, int keyval, void* value, int* flag) {
  const std::lock_guard guard(mutex);
  int* number = nullptr;
  if (predefined_value(keyval, &number)) {
    *flag = number != nullptr;
    if (number) *static_cast<int**>(value) = number;
    return {};
  }
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, Kind::kComm, "communicators", &key));
  const auto at = entry_of(comm.attributes, keyval);
  *flag = at != comm.attributes.entries.end();
  if (*flag) *static_cast<void**>(value) = at->value;
  return {};
}

Status comm_delete(Comm& comm, int keyval) {
  const std::lock_guard guard(mutex);
  ASHLAR_TRY(refuse_predefined(keyval));
  Keyval* key = nullptr;
  ASHLAR_TRY(find(keyval, Kind::kComm, "communicators", &key));
  auto at = entry_of(comm.attributes, keyval);
  if (at == comm.attributes.entries.end())
    return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, under which communicator '%s' has no attribute", keyval,
                        comm.name.c_str());
  ASHLAR_TRY(call_delete(comm, *at));
  at = entry_of(comm.attributes, keyval);
  if (at != comm.attributes.entries.end()) comm.attributes.entries.erase(at);
  drop(key);
  return {};
}

Status copy_all(Comm& from, Comm& to) {
  const std::lock_guard guard(mutex);
  const auto entries = from.attributes.entries;  // callbacks may change the set while it is walked
  for (const auto& entry : entries) {
    void* value = entry.value;
    int keep = entry.key->copy_is_dup;
    if (entry.key->copy) {
      const auto function = reinterpret_cast<MPI_Comm_copy_attr_function*>(entry.key->copy);
      const int code =
          function(to_handle<MPI_Comm>(&from), entry.key->id, entry.key->extra_state, entry.value, &value, &keep);
      if (code != MPI_SUCCESS) return callback_failed(code, "copy");
    }
    if (!keep) continue;
    ++entry.key->references;
    to.attributes.entries.push_back({entry.key, value});
  }
  return {};
}

Status delete_all(Comm& comm) {
  const std::lock_guard guard(mutex);
  while (!comm.attributes.entries.empty()) {
    const AttributeSet::Entry entry = comm.attributes.entries.back();
    ASHLAR_TRY(call_delete(comm, entry));
    const auto at = entry_of(comm.attributes, entry.key->id);
    if (at == comm.attributes.entries.end()) continue;
    comm.attributes.entries.erase(at);
    drop(entry.key);
  }
  return {};
}

}  // namespace ashlar::attribute

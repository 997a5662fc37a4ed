#include "framework/object/info_api.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "framework/base/failure.h"
#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/object/pool.h"
#include "framework/object/pvars.h"

namespace ashlar {
namespace {

constinit Pool<Info> pool{PoolName::kInfos};
constinit std::mutex info_mutex;

}  // namespace

void destroy(Info* info) { pool.put(info); }
const Counter& infos_alive() { return pool.out_level(); }

namespace info {
namespace {

Status check(const Info* info) {
  if (info) return {};
  return fail(MPI_ERR_INFO, "info.null", {{"argument", "info"}, {"value", "MPI_INFO_NULL"}});
}

Status check_writable(const Info* info) {
  ASHLAR_TRY(check(info));
  if (info->predefined != 0) return fail(MPI_ERR_INFO, "info.fixed", {{"argument", "info"}, {"value", "MPI_INFO_ENV"}});
  return {};
}

Status check_key(const char* key) {
  const std::size_t length = key ? std::strlen(key) : 0;
  if (length == 0) return fail(MPI_ERR_INFO_KEY, "argument.empty", {{"argument", "key"}});
  if (length >= MPI_MAX_INFO_KEY)
    return fail(MPI_ERR_INFO_KEY, "argument.too_long",
                {{"argument", "key"}, {"length", length}, {"most", MPI_MAX_INFO_KEY - 1}});
  return {};
}

/// Copies as much of `value` as `room` bytes hold, always ended by a null character when there is room for one.
void copy_out(const std::string& value, std::size_t room, char* out) {
  if (room == 0) return;
  const std::size_t n = std::min(value.size(), room - 1);
  std::memcpy(out, value.data(), n);
  out[n] = '\0';
}

}  // namespace

Status create(Info** info) {
  *info = pool.take();
  return *info ? Status{} : object::none_left("another info object", pool.out_level());
}

void add_missing(Info& info, const char* key, std::string_view value) {
  const std::lock_guard guard(info_mutex);
  if (!info.find(key)) info.entries.emplace_back(key, value.substr(0, MPI_MAX_INFO_VAL - 1));
}

Status dup(Info* from, Info** copy) {
  ASHLAR_TRY(check(from));
  ASHLAR_TRY(create(copy));
  const std::lock_guard guard(info_mutex);
  (*copy)->entries = from->entries;
  return {};
}

Status free(Info** info) {
  ASHLAR_TRY(check_writable(*info));
  release(*info);
  *info = nullptr;
  return {};
}

Status set(Info* info, const char* key, const char* value) {
  ASHLAR_TRY(check_writable(info));
  ASHLAR_TRY(check_key(key));
  if (!value) return fail(MPI_ERR_INFO_VALUE, "argument.null", {{"argument", "value"}});
  const std::size_t length = std::strlen(value);
  if (length >= MPI_MAX_INFO_VAL)
    return fail(MPI_ERR_INFO_VALUE, "argument.too_long",
                {{"argument", "value"}, {"length", length}, {"most", MPI_MAX_INFO_VAL - 1}, {"key", key}});
  const std::lock_guard guard(info_mutex);
  for (auto& entry : info->entries) {
    if (entry.first == key) {
      entry.second = value;
      return {};
    }
  }
  info->entries.emplace_back(key, value);
  return {};
}

Status remove(Info* info, const char* key) {
  ASHLAR_TRY(check_writable(info));
  ASHLAR_TRY(check_key(key));
  const std::lock_guard guard(info_mutex);
  const auto at = std::find_if(info->entries.begin(), info->entries.end(), [&](auto& e) { return e.first == key; });
  if (at == info->entries.end()) return fail(MPI_ERR_INFO_NOKEY, "info.no_key", {{"argument", "key"}, {"value", key}});
  info->entries.erase(at);
  return {};
}

Status get(Info* info, const char* key, int valuelen, char* value, int* flag) {
  ASHLAR_TRY(check(info));
  ASHLAR_TRY(check_key(key));
  if (valuelen < 0)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "valuelen"}, {"value", valuelen}, {"wanted", "0 or more"}});
  const std::lock_guard guard(info_mutex);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  // valuelen does not count the terminating null character in this deprecated call (MPI-5.0, 16.3).
  if (found) copy_out(*found, static_cast<std::size_t>(valuelen) + 1, value);
  return {};
}

Status get_string(Info* info, const char* key, int* buflen, char* value, int* flag) {
  ASHLAR_TRY(check(info));
  ASHLAR_TRY(check_key(key));
  if (*buflen < 0)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "buflen"}, {"value", *buflen}, {"wanted", "0 or more"}});
  const std::lock_guard guard(info_mutex);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  if (!found) return {};
  copy_out(*found, static_cast<std::size_t>(*buflen), value);
  *buflen = static_cast<int>(found->size()) + 1;
  return {};
}

Status get_valuelen(Info* info, const char* key, int* valuelen, int* flag) {
  ASHLAR_TRY(check(info));
  ASHLAR_TRY(check_key(key));
  const std::lock_guard guard(info_mutex);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  if (found) *valuelen = static_cast<int>(found->size());
  return {};
}

Status get_nkeys(Info* info, int* nkeys) {
  ASHLAR_TRY(check(info));
  const std::lock_guard guard(info_mutex);
  *nkeys = static_cast<int>(info->entries.size());
  return {};
}

Status get_nthkey(Info* info, int n, char* key) {
  ASHLAR_TRY(check(info));
  const std::lock_guard guard(info_mutex);
  const int keys = static_cast<int>(info->entries.size());
  if (n < 0 || n >= keys)
    return fail(MPI_ERR_ARG, "argument.index",
                {{"argument", "n"}, {"value", n}, {"whole", "the info object"}, {"count", keys}, {"parts", "keys"}});
  copy_out(info->entries[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY, key);
  return {};
}

Info& environment() { return *resolve(MPI_INFO_ENV); }

}  // namespace info
}  // namespace ashlar

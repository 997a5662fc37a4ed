#include "framework/object/info_api.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/object/pool.h"

namespace ashlar {
namespace {

constinit Pool<Info> pool;
constinit std::mutex info_mutex;

}  // namespace

void destroy(Info* info) { pool.put(info); }

namespace info {
namespace {

Status check(const Info* info) {
  if (info) return {};
  return Status::fail(MPI_ERR_INFO, "argument info is MPI_INFO_NULL, which has no keys");
}

Status check_writable(const Info* info) {
  ASHLAR_TRY(check(info));
  if (info->predefined != 0)
    return Status::fail(MPI_ERR_INFO, "argument info is MPI_INFO_ENV, which cannot be changed");
  return {};
}

Status check_key(const char* key) {
  const std::size_t length = key ? std::strlen(key) : 0;
  if (length == 0) return Status::fail(MPI_ERR_INFO_KEY, "argument key is empty");
  if (length >= MPI_MAX_INFO_KEY)
    return Status::fail(MPI_ERR_INFO_KEY, "argument key has %zu characters; at most %d are allowed", length,
                        MPI_MAX_INFO_KEY - 1);
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
  return *info ? Status{} : Status::fail(MPI_ERR_NO_MEM, "no memory for another info object");
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
  if (!value) return Status::fail(MPI_ERR_INFO_VALUE, "argument value is a null pointer");
  const std::size_t length = std::strlen(value);
  if (length >= MPI_MAX_INFO_VAL)
    return Status::fail(MPI_ERR_INFO_VALUE, "the value of key '%s' has %zu characters; at most %d are allowed", key,
                        length, MPI_MAX_INFO_VAL - 1);
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
  if (at == info->entries.end())
    return Status::fail(MPI_ERR_INFO_NOKEY, "argument key is '%s', which the info object does not have", key);
  info->entries.erase(at);
  return {};
}

Status get(Info* info, const char* key, int valuelen, char* value, int* flag) {
  ASHLAR_TRY(check(info));
  ASHLAR_TRY(check_key(key));
  if (valuelen < 0) return Status::fail(MPI_ERR_ARG, "argument valuelen is %d; it must not be negative", valuelen);
  const std::lock_guard guard(info_mutex);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  // valuelen does not count the terminating null character in this deprecated call (MPI-5.0, 10).
  if (found) copy_out(*found, static_cast<std::size_t>(valuelen) + 1, value);
  return {};
}

Status get_string(Info* info, const char* key, int* buflen, char* value, int* flag) {
  ASHLAR_TRY(check(info));
  ASHLAR_TRY(check_key(key));
  if (*buflen < 0) return Status::fail(MPI_ERR_ARG, "argument buflen is %d; it must not be negative", *buflen);
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
    return Status::fail(MPI_ERR_ARG, "argument n is %d, but the info object has %d keys, numbered from 0", n, keys);
  copy_out(info->entries[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY, key);
  return {};
}

Info& environment() { return *resolve(MPI_INFO_ENV); }

}  // namespace info
}  // namespace ashlar

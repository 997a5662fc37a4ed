#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "framework/base/error_class.h"
#include "framework/param/store.h"

// A room's rows and a component's, as the tests of this folder declare them.
namespace ashlar::param::testing_rows {

struct Room {
  std::uint64_t copy_limit;
  bool busy;
  std::int32_t mode;
};
inline constexpr const char* kModes[] = {"safe", "fast", nullptr};
inline constexpr ashlar_param kRoom[] = {
    {"copy_limit", "64KiB", "Largest copy.", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, 0,
     offsetof(Room, copy_limit), nullptr},
    {"busy", "true", "Poll.", ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN,
     offsetof(Room, busy), nullptr},
    {"mode", "safe", "How.", ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Room, mode),
     kModes},
    {"cpy_limit", "", "p2p.copy_limit", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, ASHLAR_PARAM_SYNONYM,
     0, nullptr},
};

struct Shm {
  std::uint64_t eager_limit;
  std::uint64_t patience;
  double factor;
  std::int64_t bias;
  const char* folder;
};
inline constexpr ashlar_param kShm[] = {
    {"eager_limit", "8KiB", "Largest message sent without a handshake.", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL,
     ASHLAR_USER_BASIC, 0, offsetof(Shm, eager_limit), nullptr},
    {"patience", "10us", "Spin this long.", ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0,
     offsetof(Shm, patience), nullptr},
    {"factor", "0.5", "Growth.", ASHLAR_PARAM_F64, ASHLAR_SCOPE_LOCAL, ASHLAR_DEV_ALL, ASHLAR_PARAM_DEPRECATED,
     offsetof(Shm, factor), nullptr},
    {"bias", "-3", "Bias.", ASHLAR_PARAM_I64, ASHLAR_SCOPE_LOCAL, ASHLAR_DEV_ALL, 0, offsetof(Shm, bias), nullptr},
    {"folder", "", "Where.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_ALL, 0, offsetof(Shm, folder),
     nullptr},
    {"wire_version", "3", "Of the ring format.", ASHLAR_PARAM_I64, ASHLAR_SCOPE_CONSTANT, ASHLAR_DEV_ALL, 0,
     offsetof(Shm, bias), nullptr},
};
inline constexpr ashlar_param kSelection[] = {
    {"transport", "", "Transports to use.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, 0, 0, nullptr}};
inline constexpr Table kTables[] = {{"", kSelection}, {"p2p", kRoom}, {"transport.shm", kShm}};

inline Store store() {
  Store s;
  s.declare(kTables);
  return s;
}

inline Status open_yaml(ashlar_yaml_read** out) {
  const std::string path = installation_prefix() + "/lib/ashlar/libashlar_yaml.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status::fail(kErrOther, "%s", dlerror());
  *out = reinterpret_cast<ashlar_yaml_read*>(dlsym(library, ASHLAR_YAML_SYMBOL));
  return *out ? Status{} : Status::fail(kErrOther, "%s", dlerror());
}

}  // namespace ashlar::param::testing_rows

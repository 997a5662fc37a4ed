#pragma once
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// What doubles of libraries have in common: their settings, and how tests reach these.
namespace ashlar::network::test {

/// What the double in `file` exports as `name`.
template <class T>
T& of_double(const char* file, const char* name) {
  static void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  return *static_cast<T*>(dlsym(library, name));
}

/// Calls `set(name, value)` for each word of "puts=1,again=3" in an environment variable; one that `set` does not know
/// ends the process.
template <class Set>
void each_setting(const char* variable, Set set) {
  const char* at = std::getenv(variable);
  while (at != nullptr && *at != 0) {
    char name[32] = "";
    unsigned long long value = 0;
    int length = 0;
    if (std::sscanf(at, "%31[a-z_]=%llu%n", name, &value, &length) != 2 || !set(name, value)) std::abort();
    at += length + (at[length] == ',' ? 1 : 0);
  }
}

}  // namespace ashlar::network::test

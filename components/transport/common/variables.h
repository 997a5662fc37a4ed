#pragma once
#include <unistd.h>

#include <cstring>
#include <string>

namespace ashlar::network {

/// The environment variables that begin with `prefix`, by which a library is set up beside our parameters: "UCX_TLS,
/// UCX_LOG_LEVEL". As many as a decision record has room for.
inline std::string variables(const char* prefix) {
  constexpr std::size_t kRoom = 200;
  std::string names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, prefix, std::strlen(prefix)) != 0 || names.size() > kRoom) continue;
    names += (names.empty() ? "" : ", ") + std::string(*entry, std::strcspn(*entry, "="));
  }
  return names;
}

}  // namespace ashlar::network

#pragma once
#include <cstddef>
#include <cstdint>

#include "components/transport/common/config.h"

namespace ashlar::ofi {

/// Values of transport.ofi.*; the rows in params.cc say what each means.
struct Config {
  const char* library;
  const char* provider;
  const char* domain;
  std::uint64_t receives;
  std::uint64_t tag_receives;
  network::Config sessions;
};

// A constant: the component is read from its file before it is loaded.
inline constexpr std::uint32_t kParamCount = 18;
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::ofi

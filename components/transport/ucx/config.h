#pragma once
#include <cstddef>
#include <cstdint>

#include "components/transport/common/config.h"

namespace ashlar::ucx {

enum Puts : std::int32_t { kWhereProved = 0, kAlways, kNever };

/// Values of transport.ucx.*; the rows in params.cc say what each means.
struct Config {
  const char* library;
  const char* transports;
  const char* devices;
  std::int32_t puts;  // Puts
  std::uint64_t tag_receives;
  network::Config sessions;
};

// A constant: the component is read from its file before it is loaded.
inline constexpr std::uint32_t kParamCount = 16;
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::ucx

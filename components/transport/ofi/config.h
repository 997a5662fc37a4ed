#pragma once
#include <cstddef>
#include <cstdint>

#include "components/transport/common/config.h"

namespace ashlar::ofi {

/// The words of transport.ofi.multi_receive, in their order.
enum MultiReceive : std::int32_t { kWithCards, kAlways, kNever };

/// Values of transport.ofi.*; the rows in params.cc say what each means.
struct Config {
  const char* library;
  const char* provider;
  const char* domain;
  std::uint64_t receives;
  std::int32_t multi_receive;  // MultiReceive
  std::uint64_t tag_receives;
  std::uint64_t in_flight;
  network::Config sessions;
};

// A constant: the component is read from its file before it is loaded.
inline constexpr std::uint32_t kParamCount = 21;
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::ofi

#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::ofi {

/// Values of transport.ofi.*; the rows in params.cc say what each means.
struct Config {
  const char* library;
  const char* provider;
  const char* domain;
  std::uint64_t frame_bytes;
  std::uint64_t send_buffer;
  std::uint64_t sends;
  std::uint64_t receives;
  std::uint64_t get_from;
  std::uint64_t coalesce_after;
  std::uint64_t look_interval;
  std::uint64_t handshake_timeout;
  std::uint64_t liveness_interval;
};

inline constexpr std::uint32_t kParamCount = 12;  // a constant: the component is read from its file before it is loaded
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::ofi

#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::tcp {

/// Values of transport.tcp.*; the rows in params.cc say what each means.
struct Config {
  const char* interfaces;
  const char* ports;
  std::uint64_t connections;
  std::uint64_t max_bcopy;
  std::uint64_t send_buffer;
  std::uint64_t keep;
  std::uint64_t get_from;
  std::uint64_t get_chunk;  // 0: by the path
  std::uint64_t in_flight;  // 0: by the cache; kNoBound: the system's choice
  std::uint64_t rails;
  std::uint64_t stripe_from;
  std::uint64_t stripe;
  std::uint64_t coalesce_after;
  std::uint64_t look_interval;
  std::uint64_t connect_timeout;
  std::uint64_t patience;
  std::uint64_t handshake_timeout;
  std::uint64_t strangers;
  std::uint64_t full_exchange;
  std::uint64_t user_timeout;
  std::uint64_t keepalive;
};

inline constexpr std::uint64_t kNoBound = 1 << 30;  // of in_flight

inline constexpr std::uint32_t kParamCount = 21;  // a constant: the component is read from its file before it is loaded
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::tcp

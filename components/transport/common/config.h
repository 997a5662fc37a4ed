#pragma once
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::network {

/// Parameters that every transport over a library has; the rows in params.h say what each means.
struct Config {
  std::uint64_t frame_bytes;
  std::uint64_t send_buffer;
  std::uint64_t sends;
  std::uint64_t get_from;
  std::uint64_t registered_bytes;
  std::uint64_t registered_regions;
  bool memory_hooks;
  std::uint64_t coalesce_after;
  std::uint64_t look_interval;
  std::uint64_t handshake_timeout;
  std::uint64_t liveness_interval;
  // Of libraries whose fabrics have rails (Fabric::rails).
  std::uint64_t rails;  // the first fabric among them; 0: those that no other process uses
  std::uint64_t stripe_from;
  std::uint64_t stripe;
};

/// What tells transports over different libraries apart.
struct Traits {
  const char* component;  // "ofi"
  const char* library;    // "libfabric"
  const char* settings;   // that choose the network: "transport.ofi.provider, transport.ofi.domain"
  /// What protocols count on, as measured over the system's sockets; a card is faster in about the same proportions.
  float latency_ns, bandwidth_copy, bandwidth_get;
  /// Shows the counters of an interface as performance variables, and takes them back.
  void (*show)(const ashlar_host& host, const struct Counters& counters);
  void (*hide)(const ashlar_host& host, const struct Counters& counters);
};

}  // namespace ashlar::network

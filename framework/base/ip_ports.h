#pragma once
#include <cstdint>
#include <string>

#include "framework/base/descriptor.h"

namespace ashlar::ip {

/// transport.tcp.ports, taken apart: 0-0 leaves the choice to the system.
struct Ports {
  std::uint16_t first = 0, last = 0;
  /// False: the text is neither a port nor a range.
  static bool parse(const std::string& text, Ports* out);
};

/// A listening socket on one of the ports, or none, with errno. `loopback_only`: hosts cannot reach it.
Descriptor listen_on(const Ports& ports, bool loopback_only);

}  // namespace ashlar::ip

#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/ip_interfaces.h"

namespace ashlar::comm {

/// What a port's name says: where the port listens, and the key that a process needs to connect.
struct PortName {
  using Key = std::array<std::uint8_t, 32>;

  std::uint64_t host = 0;   // ip::host_here() where the port is
  std::uint64_t place = 0;  // number of the socket there: an abstract one, which has no file
  Key key{};
  // For other hosts: a TCP port, and the addresses at which it may be reached. 0: the port is for its host alone.
  std::uint16_t port = 0;
  std::vector<ip::Candidate> addresses = {};

  /// As many addresses as a name has room for.
  static constexpr std::size_t kMostAddresses = 16;
  std::string text() const;
  /// False: it is not of our making.
  static bool parse(const char* text, PortName* name);
};

}  // namespace ashlar::comm

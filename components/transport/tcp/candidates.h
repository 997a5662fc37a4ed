#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/transport/tcp/socket.h"

namespace ashlar::tcp {

/// How likely an address is to be reached from another host; the best are tried first.
enum Reach : std::uint8_t { kNetwork = 0, kVirtual = 1, kLinkLocal = 2, kLoopback = 3 };

/// An address at which a process may be reached, as it is published.
struct Candidate {
  std::uint8_t family;  // 4 or 6
  std::uint8_t reach;
  std::uint8_t prefix;  // bits of its subnet
  std::uint8_t reserved;
  std::uint8_t bytes[16];
};
static_assert(sizeof(Candidate) == 20);

/// An address of this process's own, with its interface.
struct OwnAddress {
  Candidate candidate;
  std::string interface;
  std::uint32_t index;  // of the interface
};

/// transport.tcp.interfaces, taken apart. `wrong`: the word that means nothing, or "".
class Interfaces {
 public:
  explicit Interfaces(const std::string& text);
  bool automatic() const { return automatic_; }
  const std::string& wrong() const { return wrong_; }
  bool allows(const OwnAddress& address) const;

 private:
  struct Subnet {
    int family;
    std::uint8_t bytes[16];
    unsigned prefix;
  };
  bool automatic_ = false, exclude_ = false;
  std::vector<std::string> names_;
  std::vector<Subnet> subnets_;
  std::string wrong_;
};

/// The addresses of all interfaces that are up, best first. `loopback_only`: where `wanted` leaves the choice.
std::vector<OwnAddress> own_addresses(const Interfaces& wanted, bool loopback_only);

/// Whether both lie in one subnet, of `bits`.
bool same_subnet(const std::uint8_t* a, const std::uint8_t* b, unsigned bits);

}  // namespace ashlar::tcp

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/ip_socket.h"

namespace ashlar::ip {

/// How likely an address is to be reached from another host; the best are tried first.
enum Reach : std::uint8_t { kNetwork = 0, kVirtual = 1, kLinkLocal = 2, kLoopback = 3 };

/// An address at which a process may be reached, as it is published.
struct Candidate {
  std::uint8_t family;  // 4 or 6
  std::uint8_t reach;
  std::uint8_t prefix;  // bits of its subnet
  std::uint8_t card;    // alike for the addresses of one interface of a process, from 1; 0: not known
  std::uint8_t bytes[16];
};
static_assert(sizeof(Candidate) == 20);

/// An address of this process's own, with its interface.
struct OwnAddress {
  Candidate candidate;
  std::string interface;
  std::uint32_t index;  // of the interface
};

/// A choice of interfaces, taken apart: names, subnets, "auto", with ^ in front all but these. `wrong`: the word that
/// means nothing, or "".
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

/// The addresses of the interfaces that are wanted and up, best first.
std::vector<OwnAddress> own_addresses(const Interfaces& wanted);

/// Whether both lie in one subnet, of `bits`.
bool same_subnet(const std::uint8_t* a, const std::uint8_t* b, unsigned bits);

/// The same number in all processes that share a loopback interface, and hardly anywhere else.
std::uint64_t host_here();

/// Where a process may be reached that has published `candidates` and listens on `port`, the most likely first.
/// `own`: the addresses of this process; `same_host`: loopback addresses mean the same there, and come first, as no
/// interface that goes down takes them along.
std::vector<SocketAddress> ways_to(const std::vector<Candidate>& candidates, std::uint16_t port, bool same_host,
                                   const std::vector<OwnAddress>& own);

}  // namespace ashlar::ip

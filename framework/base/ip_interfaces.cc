#include "framework/base/ip_interfaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "framework/base/descriptor.h"
#include "framework/base/hash.h"

namespace ashlar::ip {
namespace {

unsigned bits_of(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  const bool four = mask->sa_family == AF_INET;
  const auto* bytes = four
                          ? reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<const sockaddr_in*>(mask)->sin_addr)
                          : reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr;
  unsigned bits = 0;
  for (int i = 0; i < (four ? 4 : 16); ++i) bits += static_cast<unsigned>(__builtin_popcount(bytes[i]));
  return bits;
}

/// Interfaces of containers, virtual machines and tunnels: their addresses are often the same on every host.
bool looks_virtual(const std::string& name, unsigned flags) {
  for (const char* prefix : {"docker", "br-", "virbr", "cni", "flannel", "cali", "tun", "tap", "wg", "lxc"})
    if (name.starts_with(prefix)) return true;
  return (flags & IFF_POINTOPOINT) != 0;
}

Reach reach_of(const OwnAddress& own, unsigned flags) {
  const std::uint8_t* b = own.candidate.bytes;
  if ((flags & IFF_LOOPBACK) != 0) return kLoopback;
  if (own.candidate.family == 6 && b[0] == 0xfe && (b[1] & 0xc0) == 0x80) return kLinkLocal;
  if (own.candidate.family == 4 && b[0] == 169 && b[1] == 254) return kLinkLocal;
  return looks_virtual(own.interface, flags) ? kVirtual : kNetwork;
}

bool read_address(const ifaddrs& entry, OwnAddress* own) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  const int family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return false;
  *own = {.candidate = {}, .interface = entry.ifa_name, .index = if_nametoindex(entry.ifa_name)};
  own->candidate.family = family == AF_INET ? 4 : 6;
  own->candidate.prefix = static_cast<std::uint8_t>(bits_of(entry.ifa_netmask));
  if (family == AF_INET)
    std::memcpy(own->candidate.bytes, &reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr, 4);
  else
    std::memcpy(own->candidate.bytes, &reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr, 16);
  own->candidate.reach = reach_of(*own, entry.ifa_flags);
  return true;
}

void number_cards(std::vector<OwnAddress>& addresses) {
  std::vector<std::uint32_t> cards;  // indices of interfaces
  for (OwnAddress& own : addresses) {
    const auto known = std::find(cards.begin(), cards.end(), own.index);
    const auto number = known - cards.begin() + 1;
    if (known == cards.end()) cards.push_back(own.index);
    own.candidate.card = number <= UINT8_MAX ? static_cast<std::uint8_t>(number) : 0;
  }
}

}  // namespace

bool same_subnet(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
  if (std::memcmp(a, b, bits / 8) != 0) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0;
}

Interfaces::Interfaces(const std::string& text) {
  std::string rest = text;
  if (rest.starts_with('^')) {
    exclude_ = true;
    rest.erase(0, 1);
  }
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string word = rest.substr(0, comma);
    rest.erase(0, std::min(comma + 1, rest.size()));
    const std::size_t slash = word.find('/');
    if (word == "auto" && !exclude_) {
      automatic_ = true;
    } else if (slash == std::string::npos) {
      if (!word.empty()) names_.push_back(word);
    } else {
      Subnet net = {};
      const std::string host = word.substr(0, slash);
      char* end = nullptr;
      net.family = host.find(':') == std::string::npos ? 4 : 6;
      net.prefix = static_cast<unsigned>(std::strtoul(word.c_str() + slash + 1, &end, 10));
      const bool good = inet_pton(net.family == 4 ? AF_INET : AF_INET6, host.c_str(), net.bytes) == 1 && *end == '\0' &&
                        end != word.c_str() + slash + 1 && net.prefix <= (net.family == 4 ? 32u : 128u);
      if (good)
        subnets_.push_back(net);
      else
        wrong_ = word;
    }
  }
  if (names_.empty() && subnets_.empty() && wrong_.empty()) automatic_ = true;
}

bool Interfaces::allows(const OwnAddress& own) const {
  const bool named =
      std::find(names_.begin(), names_.end(), own.interface) != names_.end() ||
      std::any_of(subnets_.begin(), subnets_.end(), [&](const Subnet& net) {
        return net.family == own.candidate.family && same_subnet(net.bytes, own.candidate.bytes, net.prefix);
      });
  return automatic_ || named != exclude_;
}

std::vector<OwnAddress> own_addresses(const Interfaces& wanted) {
  std::vector<OwnAddress> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    OwnAddress own;
    if (!read_address(*entry, &own) || !wanted.allows(own)) continue;
    found.push_back(own);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const OwnAddress& a, const OwnAddress& b) { return a.candidate.reach < b.candidate.reach; });
  number_cards(found);
  return found;
}

std::uint64_t host_here() {
  Hash hash;
  char text[256];
  const Descriptor boot(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (const ssize_t n = boot ? read(boot.get(), text, sizeof text) : 0; n > 0)
    hash.add({text, static_cast<std::size_t>(n)});
  if (const ssize_t n = readlink("/proc/self/ns/net", text, sizeof text); n > 0)
    hash.add({text, static_cast<std::size_t>(n)});
  return hash.value();
}

std::vector<SocketAddress> ways_to(const std::vector<Candidate>& candidates, std::uint16_t port, bool same_host,
                                   const std::vector<OwnAddress>& own) {
  std::vector<std::pair<int, SocketAddress>> ways;
  for (const Candidate& to : candidates) {
    if (to.family != 4 && to.family != 6) continue;
    if (to.reach == kLoopback && !same_host) continue;
    const bool near = std::any_of(own.begin(), own.end(), [&](const OwnAddress& mine) {
      return mine.candidate.family == to.family && mine.candidate.reach != kLoopback &&
             same_subnet(mine.candidate.bytes, to.bytes, std::min<unsigned>(mine.candidate.prefix, to.prefix));
    });
    const int order = to.reach == kLoopback ? -1 : 2 * to.reach + (near ? 0 : 1);
    if (to.reach != kLinkLocal || to.family != 6) {
      ways.emplace_back(order, SocketAddress(to.family, to.bytes, port));
      continue;
    }
    // Which of this host's links leads there, only trying can tell.
    for (const OwnAddress& mine : own)
      if (mine.candidate.reach == kLinkLocal && mine.candidate.family == 6)
        ways.emplace_back(order, SocketAddress(6, to.bytes, port, mine.index));
  }
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SocketAddress> sorted;
  for (const auto& [order, to] : ways) sorted.push_back(to);
  return sorted;
}

}  // namespace ashlar::ip

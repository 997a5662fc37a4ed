#include "components/transport/tcp/candidates.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ashlar::tcp {
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

std::vector<OwnAddress> own_addresses(const Interfaces& wanted, bool loopback_only) {
  std::vector<OwnAddress> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    OwnAddress own;
    if (!read_address(*entry, &own) || !wanted.allows(own)) continue;
    if (wanted.automatic() && loopback_only && own.candidate.reach != kLoopback) continue;
    found.push_back(own);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const OwnAddress& a, const OwnAddress& b) { return a.candidate.reach < b.candidate.reach; });
  return found;
}

}  // namespace ashlar::tcp

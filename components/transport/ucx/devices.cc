#include "components/transport/ucx/devices.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "components/transport/common/card.h"

namespace ashlar::ucx {
namespace {

constexpr unsigned kMellanox = 0x15b3;  // the maker's number on the PCI bus

bool of_mellanox(const std::string& folder) {
  std::FILE* const file = std::fopen((folder + "/device/vendor").c_str(), "re");
  if (file == nullptr) return false;
  unsigned vendor = 0;
  const bool read = std::fscanf(file, "%x", &vendor) == 1;
  std::fclose(file);
  return read && vendor == kMellanox;
}

using Addresses = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Addresses addresses() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) all = nullptr;
  return {all, freeifaddrs};
}

bool usable(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0 || (one.ifa_flags & IFF_RUNNING) == 0) return false;
  if (one.ifa_addr->sa_family == AF_INET) return true;
  if (one.ifa_addr->sa_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr;
  return !IN6_IS_ADDR_LINKLOCAL(&v6);
}

bool is_card(const std::string& interface) {
  return access(("/sys/class/net/" + interface + "/device").c_str(), F_OK) == 0;
}

/// The network interface of "mlx5_0:1" or "eth0".
std::string interface_of(const std::string& device) {
  const std::string name = device.substr(0, device.find(':'));
  DIR* const interfaces = opendir(("/sys/class/infiniband/" + name + "/device/net").c_str());
  if (interfaces == nullptr) return name;
  std::string first = name;
  while (const dirent* const entry = readdir(interfaces))
    if (entry->d_name[0] != '.') first = entry->d_name;
  closedir(interfaces);
  return first;
}

}  // namespace

std::string card_for_ucx() { return network::card(of_mellanox); }

std::optional<DeviceAddress> address_of(const std::string& device) {
  const std::string interface = interface_of(device);
  const Addresses all = addresses();
  std::optional<DeviceAddress> found;
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (interface != one->ifa_name || !usable(*one)) continue;
    const bool v4 = one->ifa_addr->sa_family == AF_INET;
    if (found && !v4) continue;
    found.emplace();
    std::memcpy(&found->bytes, one->ifa_addr, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (v4) break;
  }
  return found;
}

std::string interface_for_tcp(bool one_node, std::string* others) {
  const Addresses all = addresses();
  std::map<std::string, const char*> lost;  // why, by name
  std::string best;
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (!usable(*one)) continue;
    const std::string name = one->ifa_name;
    const bool loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    if (name == best) continue;
    if (loopback != one_node) {
      lost[name] = loopback ? "it does not reach other nodes" : "all processes are on this node";
    } else if (best.empty()) {
      best = name;
    } else if (!is_card(best) && is_card(name)) {
      lost[best] = "it is no network card";
      best = name;
    } else {
      lost[name] = "one interface is enough";
    }
  }
  for (const auto& [name, why] : lost) {
    if (others->size() > 300) break;
    *others += (others->empty() ? "" : "; ") + name + ": " + why;
  }
  return best;
}

}  // namespace ashlar::ucx

#include "components/transport/ucx/devices.h"

#include <dirent.h>

#include <cstdio>
#include <map>

#include "components/transport/common/card.h"
#include "framework/base/ip_interfaces.h"

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

std::optional<ip::SocketAddress> address_of(const std::string& device) {
  const std::string interface = interface_of(device);
  for (const ip::OwnAddress& own : ip::own_addresses(ip::Interfaces(interface), false))
    if (own.candidate.reach != ip::kLinkLocal) return ip::SocketAddress(own.candidate.family, own.candidate.bytes, 0);
  return std::nullopt;
}

std::string interface_for_tcp(bool one_node, std::string* others) {
  std::string best;
  std::map<std::string, const char*> lost;  // why, by name
  for (const ip::OwnAddress& own : ip::own_addresses(ip::Interfaces("auto"), false)) {
    const bool loopback = own.candidate.reach == ip::kLoopback;
    if (own.interface == best) continue;
    if (loopback != one_node)
      lost[own.interface] = loopback ? "it does not reach other nodes" : "all processes are on this node";
    else if (own.candidate.reach == ip::kLinkLocal)
      lost[own.interface] = "its address has a meaning on one link only";
    else if (best.empty())
      best = own.interface;
    else
      lost[own.interface] = "another is as likely to be reached";
  }
  lost.erase(best);
  for (const auto& [name, why] : lost) {
    if (others->size() > 300) break;
    *others += (others->empty() ? "" : "; ") + name + ": " + why;
  }
  return best;
}

}  // namespace ashlar::ucx

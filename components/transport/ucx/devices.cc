#include "components/transport/ucx/devices.h"

#include <dirent.h>

#include <cstdlib>
#include <map>

#include "components/transport/common/card.h"
#include "framework/base/ip_interfaces.h"
#include "framework/base/small_file.h"

namespace ashlar::ucx {
namespace {

constexpr unsigned kMellanox = 0x15b3;  // the maker's number on the PCI bus

/// A file of one line, without its end.
std::string line_of(const std::string& path) {
  const std::string text = small_file(path);
  return text.substr(0, text.find('\n'));
}

bool of_mellanox(const network::Card& card) {
  return std::strtoul(line_of(card.folder + "/vendor").c_str(), nullptr, 16) == kMellanox;
}

/// The first port of the card that has a link.
std::optional<Port> port_of(const network::Card& card) {
  constexpr int kMostPorts = 8;
  for (int number = 1; number <= kMostPorts; ++number) {
    const std::string port = card.folder + "/infiniband/" + card.name + "/ports/" + std::to_string(number);
    if (line_of(port + "/state").find("ACTIVE") == std::string::npos) continue;
    // The upper half of an address of InfiniBand is its network.
    const std::string network = line_of(port + "/gids/0").substr(0, 19);
    return Port{.name = card.name + ":" + std::to_string(number),
                .folder = card.folder,
                .kind = line_of(card.folder + "/device") + ", " + line_of(port + "/link_layer") + ", " +
                        line_of(port + "/rate") + ", " + network};
  }
  return std::nullopt;
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

std::vector<Port> ports_for_ucx() {
  std::vector<Port> ports;
  for (const network::Card& card : network::cards(of_mellanox))
    if (std::optional<Port> port = port_of(card)) ports.push_back(*std::move(port));
  return ports;
}

network::Turn port_in_turn(const std::vector<Port>& ports, std::uint32_t local_rank, std::string* others) {
  std::vector<std::size_t> alike;
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].kind == ports.front().kind) {
      alike.push_back(i);
      folders.push_back(ports[i].folder);
    } else {
      *others += (others->empty() ? "" : "; ") + ports[i].name + ": it is of another kind than " + ports.front().name +
                 " (" + ports[i].kind + "; " + ports.front().kind + ")";
    }
  }
  network::Turn turn = network::turn_of(local_rank, network::processors_of_process(), folders);
  turn.card = alike[turn.card];
  return turn;
}

std::optional<ip::SocketAddress> address_of(const std::string& device) {
  const std::string interface = interface_of(device);
  for (const ip::OwnAddress& own : ip::own_addresses(ip::Interfaces(interface)))
    if (own.candidate.reach != ip::kLinkLocal) return ip::SocketAddress(own.candidate.family, own.candidate.bytes, 0);
  return std::nullopt;
}

std::string interface_for_tcp(bool one_node, std::string* others) {
  std::string best, loopback;
  std::map<std::string, const char*> lost;  // why, by name
  for (const ip::OwnAddress& own : ip::own_addresses(ip::Interfaces("auto"))) {
    if (own.interface == best) continue;
    if (own.candidate.reach == ip::kLoopback) {
      lost[own.interface] = "it does not reach other nodes";
      loopback = own.interface;
    } else if (own.candidate.reach == ip::kLinkLocal) {
      lost[own.interface] = "its address has a meaning on one link only";
    } else if (best.empty()) {
      best = own.interface;
    } else {
      lost[own.interface] = "another is as likely to be reached";
    }
  }
  if (best.empty() && one_node) best = loopback;
  lost.erase(best);
  for (const auto& [name, why] : lost) {
    if (others->size() > 300) break;
    *others += (others->empty() ? "" : "; ") + name + ": " + why;
  }
  return best;
}

}  // namespace ashlar::ucx

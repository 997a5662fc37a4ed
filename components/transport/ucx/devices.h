#pragma once
#include <netinet/in.h>

#include <optional>
#include <string>

namespace ashlar::ucx {

/// A card of the maker that UCX is written for, "mlx5_0"; empty: there is none.
std::string card_for_ucx();

/// An address of IP of a network interface, or of a card's; none: it has none.
struct DeviceAddress {
  sockaddr_storage bytes = {};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};
/// `device`: "eth0", "mlx5_0:1".
std::optional<DeviceAddress> address_of(const std::string& device);

/// The network interface that messages over IP take: the loopback for one node; else the first that is up and has an
/// address, of those that are no bridge or tunnel if there is one. `*others` names the rest. Empty: there is none.
std::string interface_for_tcp(bool one_node, std::string* others);

}  // namespace ashlar::ucx

#pragma once
#include <optional>
#include <string>

#include "framework/base/ip_socket.h"

namespace ashlar::ucx {

/// A card of the maker that UCX is written for, "mlx5_0"; empty: there is none.
std::string card_for_ucx();

/// An address of IP of a network interface, or of a card's: "eth0", "mlx5_0:1". None: it has none.
std::optional<ip::SocketAddress> address_of(const std::string& device);

/// The network interface that messages over IP take: the loopback for one node, else the one that is most likely to be
/// reached from other hosts. `*others` names the rest. Empty: there is none.
std::string interface_for_tcp(bool one_node, std::string* others);

}  // namespace ashlar::ucx

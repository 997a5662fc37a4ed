#pragma once
#include <optional>
#include <string>
#include <vector>

#include "components/transport/common/card.h"
#include "framework/base/ip_socket.h"

namespace ashlar::ucx {

/// A port with a link, of a card of the maker that UCX is written for.
struct Port {
  std::string name;    // as UCX has it: "mlx5_0:1"
  std::string folder;  // of its device below /sys
  std::string kind;    // ports of one kind are of one model, speed and network
};

/// The first one of each card, by name.
std::vector<Port> ports_for_ucx();

/// Which of one or more ports a process takes: one of the kind of the first. Those of other kinds may lead elsewhere;
/// `*others` names them.
network::Turn port_in_turn(const std::vector<Port>& ports, std::uint32_t local_rank, std::string* others);

/// An address of IP of a network interface, or of a card's: "eth0", "mlx5_0:1". None: it has none.
std::optional<ip::SocketAddress> address_of(const std::string& device);

/// The network interface that messages over IP take: the one that is most likely to be reached from other hosts, where
/// processes of other jobs may be; where there is none, the loopback, if all processes of the job are on this node.
/// `*others` names the rest. Empty: there is none.
std::string interface_for_tcp(bool one_node, std::string* others);

}  // namespace ashlar::ucx

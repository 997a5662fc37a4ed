#include "components/transport/ucx/devices.h"

#include <gtest/gtest.h>

// Which network interface UCX's tcp takes, and where its peers ask whether a process is there.
namespace ashlar::ucx {
namespace {

// A job on one node may meet others, so the loopback is what is left where there is no network.
TEST(Devices, TheLoopbackServesOneNodeWithoutANetwork) {
  std::string others;
  const std::string reached = interface_for_tcp(false, &others), of_one_node = interface_for_tcp(true, &others);
  EXPECT_EQ(of_one_node, reached.empty() ? "lo" : reached);
  const auto address = address_of("lo");
  ASSERT_TRUE(address.has_value());
  EXPECT_TRUE(address->loopback());
  std::string others_of_several;
  EXPECT_NE(interface_for_tcp(false, &others_of_several), "lo");
  EXPECT_NE(others_of_several.find("lo: it does not reach other nodes"), std::string::npos) << others_of_several;
}

TEST(Devices, WhatIsNotThereHasNoAddress) { EXPECT_FALSE(address_of("no_such_device:1").has_value()); }

// A card of another kind may be the storage's.
TEST(Devices, PortsOfOneKindAreTakenInTurn) {
  const std::vector<Port> ports = {{.name = "mlx5_0:1", .folder = "/0", .kind = "0x101b, InfiniBand, 200 Gb/sec"},
                                   {.name = "mlx5_1:1", .folder = "/1", .kind = "0x1017, Ethernet, 100 Gb/sec"},
                                   {.name = "mlx5_2:1", .folder = "/2", .kind = "0x101b, InfiniBand, 200 Gb/sec"}};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    std::string others;
    const network::Turn turn = port_in_turn(ports, rank, &others);
    EXPECT_EQ(turn.card, rank % 2 == 0 ? 0u : 2u);
    EXPECT_EQ(turn.why, "processes of this node take 2 cards in turn");
    EXPECT_EQ(others,
              "mlx5_1:1: it is of another kind than mlx5_0:1 (0x1017, Ethernet, 100 Gb/sec; 0x101b, InfiniBand, 200 "
              "Gb/sec)");
  }
}

}  // namespace
}  // namespace ashlar::ucx

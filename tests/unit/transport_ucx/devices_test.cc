#include "components/transport/ucx/devices.h"

#include <gtest/gtest.h>

// Which network interface UCX's tcp takes, and where its peers ask whether a process is there.
namespace ashlar::ucx {
namespace {

TEST(Devices, TheLoopbackServesOneNode) {
  std::string others;
  EXPECT_EQ(interface_for_tcp(true, &others), "lo");
  const auto address = address_of("lo");
  ASSERT_TRUE(address.has_value());
  EXPECT_TRUE(address->loopback());
  std::string others_of_several;
  EXPECT_NE(interface_for_tcp(false, &others_of_several), "lo");
  EXPECT_NE(others_of_several.find("lo: it does not reach other nodes"), std::string::npos) << others_of_several;
}

TEST(Devices, WhatIsNotThereHasNoAddress) { EXPECT_FALSE(address_of("no_such_device:1").has_value()); }

}  // namespace
}  // namespace ashlar::ucx

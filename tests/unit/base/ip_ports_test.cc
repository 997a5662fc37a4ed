#include "framework/base/ip_ports.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "framework/base/ip_socket.h"

namespace ashlar::ip {
namespace {

TEST(PortsText, PortsAndRanges) {
  Ports ports;
  EXPECT_TRUE(Ports::parse("0", &ports));
  EXPECT_TRUE(Ports::parse("40000", &ports));
  EXPECT_EQ(ports.first, 40000);
  EXPECT_EQ(ports.last, 40000);
  EXPECT_TRUE(Ports::parse("40000-40010", &ports));
  EXPECT_EQ(ports.last, 40010);
  for (const char* wrong : {"", "x", "-", "1-", "-1", "5-4", "0-9", "65536", "1-65536", "1 - 2", "4000x", "1-2-3"})
    EXPECT_FALSE(Ports::parse(wrong, &ports)) << wrong;
}

TEST(PortsText, ARangeIsUsedUpAndThenSaysSo) {
  // Two neighbouring ports, of which another process may have the second.
  Descriptor probe, next;
  Ports two;
  for (int tries = 0; tries < 100 && !next; ++tries) {
    probe = listen_on({}, true);
    const std::uint16_t first = SocketAddress::of_own(probe.get()).port();
    two = {.first = first, .last = static_cast<std::uint16_t>(first + 1)};
    if (two.last > first) next = listen_on(two, true);
  }
  ASSERT_TRUE(next) << "one of the two is taken by the probe";
  EXPECT_EQ(SocketAddress::of_own(next.get()).port(), two.last);
  EXPECT_FALSE(listen_on(two, true));
  EXPECT_EQ(errno, EADDRINUSE);
}

}  // namespace
}  // namespace ashlar::ip

// Bytes under way: bounded on a path that these fill, and the system's choice on others.
#include <netinet/in.h>
#include <sys/socket.h>

#include "components/transport/tcp/flight.h"
#include "framework/base/ip_socket.h"
#include "tests/unit/transport_tcp/fixture.h"

#ifdef SO_BUF_LOCK
namespace ashlar::tcp::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// Twice the loopback's round trip of 50 Gbit/s is between these, on any machine.
constexpr std::uint64_t kFillsAnyPath = 64 << 20, kFillsNone = 1;

bool system_can() {
  const Descriptor any = ip::make_socket(4);
  return ip::bound_send_buffer(any.get(), 0);
}

/// Two ends of a connection over the loopback, whose round trip the system has measured.
struct Loopback {
  Loopback() {
    const std::uint8_t here[4] = {127, 0, 0, 1};
    ip::SocketAddress at(4, here, 0);
    const Descriptor door(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(door.get(), &at.any, at.length), 0);
    EXPECT_EQ(listen(door.get(), 1), 0);
    at = ip::SocketAddress::of_own(door.get());
    near = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(near.get(), &at.any, at.length), 0);
    far = Descriptor(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  int room() const { return option(SO_SNDBUF); }
  int bounds() const { return option(SO_BUF_LOCK); }

  Descriptor near, far;

 private:
  int option(int which) const {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(near.get(), SOL_SOCKET, which, &value, &length), 0) << which;
    return value;
  }
};

TEST(Flight, IsBoundedWhereItFillsThePath) {
  if (!system_can()) GTEST_SKIP() << "needs Linux 5.14";
  const Loopback wire;
  Flight flight;
  EXPECT_TRUE(flight.fit(wire.near.get(), kFillsAnyPath, kSecond));
  EXPECT_TRUE(flight.bounded());
  EXPECT_GT(flight.round_trip_ns(), 0);
  EXPECT_EQ(wire.bounds(), 1) << "the system still chooses";
  ASSERT_TRUE(ip::bound_send_buffer(wire.near.get(), 128 << 10));
  EXPECT_EQ(wire.room(), 128 << 10);
}

TEST(Flight, IsTheSystemsOnOtherPaths) {
  if (!system_can()) GTEST_SKIP() << "needs Linux 5.14";
  const Loopback wire;
  Flight flight;
  EXPECT_FALSE(flight.fit(wire.near.get(), kFillsNone, kSecond));
  EXPECT_FALSE(flight.fit(wire.near.get(), 0, 2 * kSecond)) << "0 bounds nothing";
  EXPECT_FALSE(flight.bounded());
  EXPECT_EQ(wire.bounds(), 0);
}

TEST(Flight, ThePathIsLookedAtAgain) {
  if (!system_can()) GTEST_SKIP() << "needs Linux 5.14";
  const Loopback wire;
  Flight flight;
  EXPECT_FALSE(flight.fit(wire.near.get(), kFillsNone, kSecond));
  EXPECT_FALSE(flight.fit(wire.near.get(), kFillsAnyPath, kSecond + 1)) << "not at every call";
  EXPECT_TRUE(flight.fit(wire.near.get(), kFillsAnyPath, 2 * kSecond));
  EXPECT_FALSE(flight.fit(wire.near.get(), kFillsNone, 2 * kSecond + 1));
  EXPECT_TRUE(flight.fit(wire.near.get(), kFillsNone, 4 * kSecond)) << "the path has become longer";
  EXPECT_FALSE(flight.bounded());
  EXPECT_EQ(wire.bounds(), 0) << "the system does not choose again";
}

TEST(Flight, IsBoundedByTheFirstReadAndToldOnce) {
  if (!system_can()) GTEST_SKIP() << "needs Linux 5.14";
  Config short_paths = usual();
  short_paths.in_flight = kFillsAnyPath;
  Process a(0, short_paths), b(1);
  ashlar_endpoint* const to_a = b.connect(0, a);
  ASSERT_NE(to_a, nullptr) << last_failure;
  const std::vector<char> memory(8 << 20, 'm');
  const ashlar_key key = a.expose(memory);
  decisions.clear();
  for (int i = 1; i <= 2; ++i) {
    std::vector<char> target(memory.size());
    Outcome done;
    ASSERT_EQ(to_a->ops->get(to_a, target.data(), &key, 0, target.size(), &done), ASHLAR_PENDING);
    ASSERT_TRUE(progress_until({&a, &b}, [&] { return done.calls == 1; }));
    EXPECT_EQ(done.result, ASHLAR_OK);
    EXPECT_TRUE(target == memory);
    EXPECT_EQ(a.iface->counters.short_paths.now.get(), 1u);
    EXPECT_EQ(b.iface->counters.short_paths.now.get(), 0u) << "nobody reads from it";
  }
  int told = 0;
  for (const std::string& line : decisions) told += line.starts_with("bytes in flight to peer") ? 1 : 0;
  EXPECT_EQ(told, 1);
  b.iface.reset();
  ASSERT_TRUE(progress_until({&a}, [&] { return a.iface->counters.connections.now.get() == 0; }));
  EXPECT_EQ(a.iface->counters.short_paths.now.get(), 0u);
}

}  // namespace
}  // namespace ashlar::tcp::test
#endif

// Bytes under way: bounded on a path that these fill, and the system's choice on others.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

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
  EXPECT_FALSE(flight.fit(wire.near.get(), kNoBound, 2 * kSecond));
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

TEST(Flight, FitsIntoTheCacheThatTheSystemTells) {
  EXPECT_EQ(flight_in_cache(0), 1u << 20) << "it tells of none";
  EXPECT_EQ(flight_in_cache(1), 256u << 10);
  EXPECT_EQ(flight_in_cache(512 << 10), 512u << 10);
  EXPECT_EQ(flight_in_cache(64 << 20), 2u << 20);
}

TEST(Flight, PiecesAreAsLongAsThePathIsFast) {
  EXPECT_EQ(Flight().piece(), 256u << 10) << "of a path that was not looked at";
  Loopback wire;
  Flight flight;
  std::vector<char> data(1 << 20);
  std::thread reader([&] {
    std::vector<char> into(data.size());
    while (recv(wire.far.get(), into.data(), into.size(), 0) > 0) continue;
  });
  std::uint64_t looks = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(send(wire.near.get(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
    flight.fit(wire.near.get(), kNoBound, ++looks * kSecond);
  }
  shutdown(wire.near.get(), SHUT_WR);
  reader.join();
  EXPECT_GT(flight.bytes_per_ns(), 0);
  const double fills = flight.bytes_per_ns() * 250'000;  // in 250 us
  EXPECT_EQ(flight.piece(), static_cast<std::uint64_t>(std::clamp<double>(fills, 256 << 10, 4 << 20)) >> 16 << 16);
}

TEST(Flight, ShortPiecesAreRaised) {
  Config little = usual();
  little.get_chunk = 1;
  last_adjustment.clear();
  const Process a(0, little);
  EXPECT_EQ(a.iface->get_chunk(), 4u << 10);
  EXPECT_EQ(last_adjustment, "transport.tcp.get_chunk=4KiB");
}

TEST(Flight, ThePiecesAreToldOnceTheyAreLonger) {
  Config by_path = usual();
  by_path.get_chunk = 0;
  Process a(0, by_path), b(1);
  ashlar_endpoint* const to_a = b.connect(0, a);
  ASSERT_NE(to_a, nullptr) << last_failure;
  const std::vector<char> memory(16 << 20, 'm');
  const ashlar_key key = a.expose(memory);
  std::vector<char> target(memory.size());
  decisions.clear();
  const auto told = [] {
    return std::count_if(decisions.begin(), decisions.end(),
                         [](const std::string& line) { return line.starts_with("pieces read by peer 1|"); });
  };
  int more = 10;  // reads after it was told
  for (int i = 0; i < 100 && more > 0; ++i) {
    Outcome done;
    ASSERT_EQ(to_a->ops->get(to_a, target.data(), &key, 0, target.size(), &done), ASHLAR_PENDING);
    ASSERT_TRUE(progress_until({&a, &b}, [&] { return done.calls == 1; }));
    ASSERT_TRUE(target == memory);
    if (told() != 0) --more;
  }
  Flight shown;
  shown.fit(a.iface->find(b.iface->nonce())->connection->fd(), kNoBound, kSecond);
  EXPECT_EQ(told(), more == 10 && shown.piece() == Flight().piece() ? 0 : 1) << shown.bytes_per_ns() << " GB/s";
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

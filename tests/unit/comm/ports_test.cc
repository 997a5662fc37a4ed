#include "framework/comm/ports.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "framework/base/ip_socket.h"
#include "framework/comm/port_call.h"
#include "framework/comm/port_name.h"
#include "framework/comm/port_wire.h"
#include "framework/comm/seal.h"
#include "framework/plugin/further_job.h"

namespace ashlar::comm {
namespace {

TEST(PortName, IsReadAsItIsWritten) {
  PortName name, again;
  name.place = 0x123;
  for (std::size_t i = 0; i < name.key.size(); ++i) name.key[i] = static_cast<unsigned char>(37 * i);
  const std::string text = name.text();
  ASSERT_TRUE(PortName::parse(text.c_str(), &again));
  EXPECT_EQ(again.host, name.host);
  EXPECT_EQ(again.place, name.place);
  EXPECT_EQ(again.key, name.key);
  EXPECT_EQ(again.port, 0);
  EXPECT_TRUE(again.addresses.empty());
}

ip::Candidate address(std::uint8_t family, std::uint8_t first) {
  ip::Candidate out = {.family = family, .reach = ip::kVirtual, .prefix = 20, .card = 0, .bytes = {}};
  for (std::size_t i = 0; i < (family == 4 ? 4u : 16u); ++i) out.bytes[i] = static_cast<std::uint8_t>(first + i);
  return out;
}

TEST(PortName, HasAddressesForOtherHosts) {
  PortName name, again;
  name.host = ~std::uint64_t{0};
  name.port = 65535;
  name.addresses = {address(4, 10), address(6, 0xfd), address(4, 192)};
  ASSERT_TRUE(PortName::parse(name.text().c_str(), &again));
  EXPECT_EQ(again.host, name.host);
  EXPECT_EQ(again.port, name.port);
  ASSERT_EQ(again.addresses.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::memcmp(&again.addresses[i], &name.addresses[i], sizeof(ip::Candidate)), 0) << i;
}

TEST(PortName, FitsWithAsManyAddressesAsItMayHave) {
  PortName name, again;
  name.port = 1;
  name.addresses.assign(PortName::kMostAddresses, address(6, 0xfd));
  EXPECT_LT(name.text().size(), static_cast<std::size_t>(MPI_MAX_PORT_NAME));
  EXPECT_TRUE(PortName::parse(name.text().c_str(), &again));
  EXPECT_FALSE(PortName::parse((name.text() + name.text().substr(name.text().rfind(','))).c_str(), &again));
}

TEST(PortName, NothingElseIsRead) {
  PortName name;
  const std::string text = PortName().text();
  EXPECT_FALSE(PortName::parse("", &name));
  EXPECT_FALSE(PortName::parse("ashlar-port:2:", &name));
  EXPECT_FALSE(PortName::parse((text + ":").c_str(), &name));
  EXPECT_FALSE(PortName::parse((text + ":1f90").c_str(), &name));                 // a TCP port without an address
  EXPECT_FALSE(PortName::parse((text + ":1f90,040018").c_str(), &name));          // an address cut short
  EXPECT_FALSE(PortName::parse((text + ":1f90,0500180a000001").c_str(), &name));  // of no family
  EXPECT_FALSE(PortName::parse((text + ":0000,0400180a000001").c_str(), &name));  // no TCP port
  EXPECT_FALSE(PortName::parse((text + ":1f90,0400180a000001,").c_str(), &name));
  EXPECT_TRUE(PortName::parse((text + ":1f90,0400180a000001").c_str(), &name));
  EXPECT_FALSE(PortName::parse(text.substr(1).c_str(), &name));
  EXPECT_FALSE(PortName::parse((text + "0").c_str(), &name));
  EXPECT_FALSE(PortName::parse(text.substr(0, text.size() - 1).c_str(), &name));
  std::string other = text;
  other[20] = 'g';
  EXPECT_FALSE(PortName::parse(other.c_str(), &name));
  other = text;
  other.back() = ' ';
  EXPECT_FALSE(PortName::parse(other.c_str(), &name));
}

Descriptor knock(const PortName& port) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ashlar-port-%016llx",
                              static_cast<unsigned long long>(port.place));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  return socket;
}

/// Whether the port has hung up on the visitor.
bool turned_away(const Descriptor& visitor) {
  char byte;
  return recv(visitor.get(), &byte, 1, 0) == 0;
}

TEST(Port, HearsOnlyThoseThatHaveTheKey) {
  Port port;
  ASSERT_TRUE(port.open(nullptr).ok());
  Channel taken;
  EXPECT_FALSE(port.take(&taken));
  LocalHello hello{.magic = kLocalMagic, .reserved = 0, .key = {}};
  const Descriptor silent = knock(port.name()), noise = knock(port.name()), guess = knock(port.name());
  EXPECT_EQ(send(noise.get(), "GET / HTTP/1.1\r\nHost: this one\r\nAccept: */*\r\n\r\n", 48, MSG_NOSIGNAL), 48);
  EXPECT_EQ(send(guess.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  EXPECT_FALSE(port.take(&taken));
  EXPECT_TRUE(turned_away(noise) && turned_away(guess));
  EXPECT_FALSE(turned_away(silent));  // not yet
  // The one with the key, in two pieces.
  const Descriptor friendly = knock(port.name());
  hello.key = port.name().key;
  EXPECT_EQ(send(friendly.get(), &hello, 20, MSG_NOSIGNAL), 20);
  EXPECT_FALSE(port.take(&taken));
  EXPECT_EQ(send(friendly.get(), reinterpret_cast<char*>(&hello) + 20, 28, MSG_NOSIGNAL), 28);
  EXPECT_TRUE(port.take(&taken));
  char welcome = 0;
  EXPECT_EQ(recv(friendly.get(), &welcome, 1, 0), 1);
  EXPECT_FALSE(port.take(&taken));
}

TEST(Port, PassesOverThoseThatHaveGoneAgain) {
  Port port;
  ASSERT_TRUE(port.open(nullptr).ok());
  LocalHello hello{.magic = kLocalMagic, .reserved = 0, .key = {}};
  hello.key = port.name().key;
  {
    const Descriptor gone = knock(port.name());
    EXPECT_EQ(send(gone.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  }
  Channel taken;
  EXPECT_FALSE(port.take(&taken));
}

/// Both ends of a connection over the network of a port that is open here; the name says that it is elsewhere.
class NetworkPort : public testing::Test {
 protected:
  void SetUp() override {
    const PortNetwork network;
    ASSERT_TRUE(port_.open(&network).ok());
    if (port_.name().port == 0) GTEST_SKIP() << "this host has no network";
    name_ = port_.name();
    name_.host = ~name_.host;
  }
  /// Lets both go on until the call has come to an end, or the port has taken somebody.
  PortCall::State meet(PortCall& call, Channel* taken) {
    PortCall::State state = PortCall::State::kGoing;
    for (int i = 0; i < 20'000 && state == PortCall::State::kGoing; ++i) {
      if (!*taken) (void)port_.take(taken);
      state = call.step();
      usleep(100);
    }
    return state;
  }
  Descriptor stranger() {
    const ip::Candidate& to = port_.name().addresses.front();
    const ip::SocketAddress address(to.family, to.bytes, port_.name().port);
    Descriptor socket(::socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(socket.get(), &address.any, address.length), 0);
    const timeval patience = {10, 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return socket;
  }
  Port port_;
  PortName name_;
};

TEST_F(NetworkPort, MeetsACallerThatHasTheKey) {
  PortCall call(name_);
  Channel theirs;
  ASSERT_EQ(meet(call, &theirs), PortCall::State::kTaken) << call.reasons();
  EXPECT_TRUE(theirs);
  EXPECT_TRUE(call.take());
}

TEST_F(NetworkPort, TakesNoCallerWithAnotherKey) {
  name_.key[5] = static_cast<std::uint8_t>(name_.key[5] ^ 1);
  PortCall call(name_);
  Channel theirs;
  EXPECT_EQ(meet(call, &theirs), PortCall::State::kFailed);
  EXPECT_FALSE(theirs);
  EXPECT_NE(call.reasons().find("what answers there is not the port"), std::string::npos) << call.reasons();
}

TEST_F(NetworkPort, SaysNothingToThoseThatDoNotNameIt) {
  const Descriptor noise = stranger(), other = stranger();
  const NetworkHello hello = {.magic = kNetworkMagic, .place = name_.place + 1, .nonce = {}};
  EXPECT_EQ(send(noise.get(), "GET / HTTP/1.1\r\nHost: this one\r\nAccept: */*\r\n\r\n", 48, MSG_NOSIGNAL), 48);
  EXPECT_EQ(send(other.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  Channel taken;
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(port_.take(&taken));
    usleep(1000);
  }
  char byte;
  EXPECT_LE(recv(noise.get(), &byte, 1, 0), 0);
  EXPECT_LE(recv(other.get(), &byte, 1, 0), 0);
}

TEST_F(NetworkPort, TellsOneAddressWhereOneIsWanted) {
  const ip::Candidate first = name_.addresses.front();
  PortNetwork network;
  network.address = ip::SocketAddress(first.family, first.bytes, 0).text(false);
  Port one, none;
  ASSERT_TRUE(one.open(&network).ok());
  ASSERT_EQ(one.name().addresses.size(), 1u);
  EXPECT_EQ(std::memcmp(&one.name().addresses[0], &first, sizeof first), 0);
  network.address = "192.0.2.1";
  EXPECT_EQ(none.open(&network).mpi_class(), MPI_ERR_INFO_VALUE);
}

TEST_F(NetworkPort, OfATakenTcpPortIsRefused) {
  PortNetwork network;
  network.ports = std::to_string(port_.name().port);
  Port second;
  EXPECT_EQ(second.open(&network).mpi_class(), MPI_ERR_PORT);
}

/// Two loopback addresses, published as addresses of a network: at 127.0.0.3 no socket listens, so connections are
/// refused; at 127.0.0.2 the accept queue of the listener is full, so SYNs are dropped.
class SilentPort : public testing::Test {
 protected:
  void SetUp() override {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ip::SocketAddress at = address(2, 0);
    ASSERT_EQ(bind(listener_.get(), &at.any, at.length), 0);
    ASSERT_EQ(listen(listener_.get(), 0), 0);
    ASSERT_EQ(getsockname(listener_.get(), &at.any, &at.length), 0);
    name_.port = at.port();
    for (Descriptor& one : before_) {
      one = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)connect(one.get(), &at.any, at.length);
    }
  }
  static ip::SocketAddress address(std::uint8_t last, std::uint16_t port) {
    const std::uint8_t bytes[16] = {127, 0, 0, last};
    return {4, bytes, port};
  }
  void tell(std::uint8_t last) {
    name_.addresses.push_back({.family = 4, .reach = ip::kNetwork, .prefix = 8, .card = 0, .bytes = {127, 0, 0, last}});
  }
  /// The state at the end, or after 300 ms.
  static PortCall::State state_of(PortCall& call) {
    PortCall::State state = call.step();
    for (int i = 0; i < 300 && state == PortCall::State::kGoing; ++i) {
      usleep(1000);
      state = call.step();
    }
    return state;
  }
  static constexpr std::uint64_t kLong = 60'000'000'000, kShort = 10'000'000;
  Descriptor listener_, before_[2];
  PortName name_;
};

TEST_F(SilentPort, IsWaitedForLessOnceAnotherAddressHasRefused) {
  tell(2);
  tell(3);
  PortCall call(name_, {.usual = kLong, .beside_refusal = kShort});
  EXPECT_EQ(state_of(call), PortCall::State::kFailed);
  EXPECT_NE(call.reasons().find("refused"), std::string::npos) << call.reasons();
  EXPECT_NE(call.reasons().find("it does not answer"), std::string::npos) << call.reasons();
}

TEST_F(SilentPort, IsWaitedForWhereNoneHasRefused) {
  tell(2);
  PortCall call(name_, {.usual = kLong, .beside_refusal = kShort});
  EXPECT_EQ(state_of(call), PortCall::State::kGoing);
}

TEST_F(SilentPort, IsGivenUpInTheEnd) {
  tell(2);
  PortCall call(name_, {.usual = kShort, .beside_refusal = kShort});
  EXPECT_EQ(state_of(call), PortCall::State::kFailed);
}

TEST(Seal, ShowsWhatWasHidden) {
  const Digest key = {1, 2, 3};
  Seal out(key), in(key);
  for (const std::size_t length : {1u, 31u, 32u, 33u, 1000u}) {
    std::string text(length, 'x'), hidden = text;
    out.hide(hidden.data(), hidden.size());
    EXPECT_NE(hidden, text);
    std::string shown = hidden;
    in.show(shown.data(), shown.size());
    EXPECT_EQ(shown, text);
    EXPECT_TRUE(same(out.tag(), in.tag()));
  }
}

TEST(Seal, TellsWhatWasChangedOrSaidAgain) {
  const Digest key = {1, 2, 3};
  Seal out(key), in(key);
  std::string text = "the same words";
  out.hide(text.data(), text.size());
  text[3] = static_cast<char>(text[3] ^ 1);
  in.show(text.data(), text.size());
  EXPECT_FALSE(same(out.tag(), in.tag()));
  std::string first = "again", second = "again";
  Seal once(key);
  once.hide(first.data(), first.size());
  const Digest tag = once.tag();
  once.hide(second.data(), second.size());
  EXPECT_NE(first, second);
  EXPECT_FALSE(same(tag, once.tag()));
}

TEST(FurtherJob, IsReadAsItIsWritten) {
  launch::FurtherJob job, again;
  job.port = "port";
  job.folder = "/a folder";
  job.programs.push_back({.processes = "3", .argv = {"prog", "", ":", "a b"}, .info = {{"soft", "1:3"}}});
  job.programs.push_back({.processes = "1", .argv = {"other"}, .info = {}});
  std::string bytes = launch::message_of(job.texts()) + launch::message_of({"next"});
  std::string first = bytes.substr(0, 10);
  std::vector<std::string> texts;
  EXPECT_FALSE(launch::take_message(&first, &texts));
  ASSERT_TRUE(launch::take_message(&bytes, &texts));
  ASSERT_TRUE(again.read(texts));
  EXPECT_EQ(again.port, job.port);
  EXPECT_EQ(again.folder, job.folder);
  ASSERT_EQ(again.programs.size(), 2u);
  EXPECT_EQ(again.programs[0].argv, job.programs[0].argv);
  EXPECT_EQ(again.programs[0].info, job.programs[0].info);
  EXPECT_EQ(again.programs[1].processes, "1");
  ASSERT_TRUE(launch::take_message(&bytes, &texts));
  EXPECT_EQ(texts, std::vector<std::string>{"next"});
  texts.pop_back();
  EXPECT_FALSE(launch::FurtherJob().read(texts));
}

}  // namespace
}  // namespace ashlar::comm

#include "mpiexec/way_prober.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/ip_ports.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr char kStranger[] =
    "what is there closed the connection: it is not this host, or something between cuts it off";

WayRules rules(std::uint32_t host, const char* secret = "one secret for all of one check.") {
  return {.host = host, .secret = secret, .interfaces = "lo", .ports = "0", .bytes = 65536, .timeout_ns = 300 * kMs};
}

WayTarget target_of(std::uint32_t host, const WayProber& prober) {
  return {.host = host, .addresses = prober.addresses(), .place = ip::host_here(), .port = prober.port()};
}

/// Until the first has tried its ways.
void run(const std::vector<WayProber*>& probers) {
  const std::uint64_t until = now_ns() + 20'000 * kMs;
  while (!probers[0]->done() && now_ns() < until) {
    std::vector<pollfd> fds;
    std::vector<std::size_t> first;
    for (WayProber* const prober : probers) {
      first.push_back(fds.size());
      prober->add(&fds);
    }
    ASSERT_GE(poll(fds.data(), fds.size(), 10), 0);
    for (std::size_t i = 0; i < probers.size(); ++i) probers[i]->handle(&fds[first[i]], now_ns());
  }
  EXPECT_TRUE(probers[0]->done());
}

/// The reason why no way from `from` is good; "": one is.
std::string tried(WayProber& from, const WayTarget& to, const std::vector<WayProber*>& others) {
  std::vector<WayProber*> all{&from};
  all.insert(all.end(), others.begin(), others.end());
  from.try_ways({to}, now_ns());
  run(all);
  if (from.results().empty()) return "none";
  std::string why;
  for (const WayResult& way : from.results()) {
    if (way.good) return "";
    why = way.why_not;
  }
  return why;
}

TEST(WayProber, ExchangesBytesWithAnother) {
  WayProber a(rules(1)), b(rules(2));
  ASSERT_TRUE(a.open().ok());
  ASSERT_TRUE(b.open().ok());
  EXPECT_EQ(tried(a, target_of(2, b), {&b}), "");
  EXPECT_GT(a.results().front().ns, 0u);
  EXPECT_EQ(a.results().front().from, "127.0.0.1 (lo)");
}

TEST(WayProber, NoWaysAreDoneAtOnce) {
  WayProber a(rules(1));
  ASSERT_TRUE(a.open().ok());
  EXPECT_FALSE(a.done());
  a.try_ways({}, now_ns());
  EXPECT_TRUE(a.done());
}

TEST(WayProber, AnotherSecretIsNotThisHost) {
  WayProber a(rules(1)), b(rules(2, "another secret, of another check"));
  ASSERT_TRUE(a.open().ok());
  ASSERT_TRUE(b.open().ok());
  EXPECT_EQ(tried(a, target_of(2, b), {&b}), kStranger);
}

TEST(WayProber, AHostThatHasTheSameAddressIsNotTheOneMeant) {
  WayProber a(rules(1)), b(rules(2));
  ASSERT_TRUE(a.open().ok());
  ASSERT_TRUE(b.open().ok());
  EXPECT_EQ(tried(a, target_of(3, b), {&b}), kStranger);
  WayProber c(rules(1));
  ASSERT_TRUE(c.open().ok());
  EXPECT_EQ(tried(c, target_of(2, c), {}), kStranger);
}

TEST(WayProber, APortThatNobodyHasIsRefused) {
  WayProber a(rules(1));
  ASSERT_TRUE(a.open().ok());
  WayTarget to = target_of(2, a);
  {
    const Descriptor closed = ip::listen_on({}, true);
    to.port = ip::SocketAddress::of_own(closed.get()).port();
  }
  EXPECT_EQ(tried(a, to, {}), "Connection refused");
}

TEST(WayProber, SilenceHasADeadlineAndNamesTheStep) {
  WayProber a(rules(1));
  ASSERT_TRUE(a.open().ok());
  const Descriptor mute = ip::listen_on({}, false);  // its connections are never accepted
  WayTarget to = target_of(2, a);
  to.port = ip::SocketAddress::of_own(mute.get()).port();
  EXPECT_EQ(tried(a, to, {}), "what is connected there does not answer within 0.3 s");
}

TEST(WayProber, AnAnswerWithoutTheSecretIsNotThisHost) {
  WayProber a(rules(1));
  ASSERT_TRUE(a.open().ok());
  const Descriptor door = ip::listen_on({}, false);
  WayTarget to = target_of(2, a);
  to.port = ip::SocketAddress::of_own(door.get()).port();
  a.try_ways({to}, now_ns());
  std::vector<Descriptor> visitors;
  for (int i = 0; i < 2000 && !a.done(); ++i) {
    Descriptor visitor(accept(door.get(), nullptr, nullptr));
    const char noise[sizeof(Digest)] = {};
    if (visitor) {
      EXPECT_EQ(send(visitor.get(), noise, sizeof noise, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof noise));
      visitors.push_back(std::move(visitor));
    }
    std::vector<pollfd> fds;
    a.add(&fds);
    ASSERT_GE(poll(fds.data(), fds.size(), 10), 0);
    a.handle(fds.data(), now_ns());
  }
  ASSERT_FALSE(a.results().empty());
  EXPECT_EQ(a.results().back().why_not, "what answers there is not this host");
}

TEST(WayProber, AStrangerIsToldNothing) {
  WayProber b(rules(2));
  ASSERT_TRUE(b.open().ok());
  const std::uint8_t loopback[] = {127, 0, 0, 1};
  const ip::SocketAddress to(4, loopback, b.port());
  const Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(stranger.get(), &to.any, to.length), 0);
  WayHello hello = {};
  hello.mark = {'a', 's', 'h', 'c', 'h', 'e', 'c', '1'};
  hello.from = 1;
  hello.to = 2;
  ASSERT_EQ(send(stranger.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  for (int i = 0; i < 20; ++i) {
    std::vector<pollfd> fds;
    b.add(&fds);
    ASSERT_GE(poll(fds.data(), fds.size(), 10), 0);
    b.handle(fds.data(), now_ns());
  }
  char byte = 0;
  EXPECT_LE(recv(stranger.get(), &byte, 1, 0), 0);
}

TEST(WayProber, SettingsThatMeanNothingAreNamed) {
  WayRules wrong = rules(1);
  wrong.interfaces = "10.0.0.0/33";
  EXPECT_STREQ(Failure(WayProber(wrong).open()).id, "check.interfaces");
  wrong = rules(1);
  wrong.ports = "9-8";
  EXPECT_STREQ(Failure(WayProber(wrong).open()).id, "check.ports");
  wrong = rules(1);
  wrong.interfaces = "no-such-interface";
  EXPECT_STREQ(Failure(WayProber(wrong).open()).id, "check.no_interface");
}

}  // namespace
}  // namespace ashlar::mpiexec

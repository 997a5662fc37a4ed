// A connection that breaks between two processes that are both there: what they tell each other arrives once, in order.
#include <map>
#include <random>

#include "tests/unit/transport_tcp/wire.h"

namespace ashlar::tcp::test {
namespace {

std::string pattern(std::uint64_t seed, std::size_t bytes) {
  std::mt19937_64 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

/// Two processes that send each other numbered messages of many sizes, short and copied, and read each other's memory.
class Talk {
 public:
  explicit Talk(const Config& config = patient()) : a(0, config), b(1, config), wire(a) {
    for (Process* process : {&a, &b}) {
      process->on_message = [this, process](const ashlar_am& am) {
        std::uint64_t& next = heard[process];
        const std::string wanted = pattern(am.h0 + (process == &a ? 1000 : 0), am.length);
        if (am.h0 != next++ || (am.length != 0 && std::memcmp(am.data, wanted.data(), am.length) != 0)) ++wrong;
      };
    }
    to_b = a.connect(1, wire.record(b));
    to_a = b.connect(0, wire.record(a));
    EXPECT_TRUE(to_a != nullptr && to_b != nullptr) << last_failure;
  }
  static Config patient() {
    Config config = usual();
    config.full_exchange = 0;
    config.handshake_timeout = 5'000'000'000;
    return config;
  }

  /// The next message to the other side. False: no room.
  bool say(Process& from) {
    std::uint64_t& number = said[&from];
    ashlar_endpoint* const to = &from == &a ? to_b : to_a;
    static constexpr std::uint32_t kSizes[] = {0, 8, 100, 1024, 5000, 70, 30000};
    const std::uint32_t bytes = kSizes[number % 7];
    std::string data = pattern(number + (&from == &a ? 0 : 1000), bytes);
    ashlar_result result;
    if (bytes <= 1024) {
      result = to->ops->am_short(to, 1, number, 7, data.data(), bytes);
    } else {
      std::size_t at = 0;
      const auto fill = [&](void* out, std::size_t room) {
        const std::size_t n = std::min(room, data.size() - at);
        std::memcpy(out, data.data() + at, n);
        at += n;
        return n;
      };
      auto plain = fill;
      result = to->ops->am_bcopy(
          to, 1, number, 7,
          [](void* self, void* out, std::size_t room) { return (*static_cast<decltype(plain)*>(self))(out, room); },
          &plain, bytes);
    }
    if (result == ASHLAR_OK) ++number;
    return result == ASHLAR_OK;
  }
  bool all_there() { return heard[&a] == said[&b] && heard[&b] == said[&a] && wrong == 0; }
  bool settles(int ms = 20000) {
    return pass_until(
        wire, {&a, &b}, [&] { return all_there(); }, ms);
  }

  Process a, b;
  Wire wire;
  ashlar_endpoint *to_b, *to_a;
  std::map<Process*, std::uint64_t> said, heard;
  unsigned wrong = 0;
};

/// A talk over connections that are cut where `plan` says, with a read of memory in each direction.
void talks_over(const Wire::Plan& plan, const Config& config = Talk::patient()) {
  Talk talk(config);
  talk.wire.plans = {plan};
  const std::string memory = pattern(5, 300000);
  std::string into_a(memory.size(), 'a'), into_b(memory.size(), 'b');
  const ashlar_key of_a = talk.a.expose(memory), of_b = talk.b.expose(memory);
  Outcome by_a, by_b;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_EQ(talk.to_b->ops->get(talk.to_b, into_a.data(), &of_b, 0, memory.size(), &by_a), ASHLAR_PENDING);
  ASSERT_EQ(talk.to_a->ops->get(talk.to_a, into_b.data(), &of_a, 100, memory.size() - 100, &by_b), ASHLAR_PENDING);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(
      pass_until(talk.wire, {&talk.a, &talk.b}, [&] { return talk.all_there() && by_a.calls == 1 && by_b.calls == 1; }))
      << plan.there << " " << plan.back << ": " << talk.heard[&talk.a] << " " << talk.heard[&talk.b] << " of 10, "
      << talk.wrong << " wrong, " << by_a.calls << by_b.calls;
  EXPECT_EQ(by_a.result, ASHLAR_OK);
  EXPECT_EQ(by_b.result, ASHLAR_OK);
  EXPECT_TRUE(into_a == memory);
  EXPECT_TRUE(into_b.compare(0, memory.size() - 100, memory, 100) == 0 && into_b.back() == 'b');
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles()) << plan.there << " " << plan.back;
  EXPECT_TRUE(talk.a.failures.empty() && talk.b.failures.empty())
      << (talk.a.failures.empty() ? talk.b : talk.a).failures[0].second;
}

// Each byte of the handshake and of the first messages, then ever fewer.
TEST(Resume, AfterACutBehindAnyByte) {
  for (std::uint64_t bytes = 0; bytes < 700000; bytes += bytes < 400 ? 1 : bytes < 4000 ? 37 : 9973) {
    talks_over({.there = bytes});
    if (HasFatalFailure()) return;
    talks_over({.back = bytes});
    if (HasFatalFailure()) return;
  }
}

TEST(Resume, AfterCutsAgainAndAgain) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Talk talk;
    for (int i = 0; i < 60; ++i)
      talk.wire.plans.push_back({.there = 200 + random() % 60000, .back = 200 + random() % 60000});
    for (std::uint64_t n = 0; n < 300;) {
      if (random() % 2 != 0 ? talk.say(talk.a) : talk.say(talk.b)) ++n;
      if (random() % 4 == 0) (void)pass_until(talk.wire, {&talk.a, &talk.b}, [&] { return random() % 8 == 0; });
    }
    ASSERT_TRUE(talk.settles()) << "seed " << seed << ": " << talk.heard[&talk.a] << " of " << talk.said[&talk.b]
                                << ", " << talk.heard[&talk.b] << " of " << talk.said[&talk.a] << ", " << talk.wrong
                                << " wrong";
    EXPECT_GT(talk.wire.cut, 5u);
    EXPECT_TRUE(talk.a.failures.empty() && talk.b.failures.empty());
    EXPECT_GT(talk.a.iface->counters.resumed.get() + talk.b.iface->counters.resumed.get(), 5u);
  }
}

TEST(Resume, WhatIsKeptIsBoundedAndGivenBack) {
  Talk talk;
  ASSERT_TRUE(talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  // b makes no progress: a may send what it keeps, and no more.
  std::uint64_t bytes = 0;
  for (int i = 0; i < 100000; ++i) {
    if (talk.say(talk.a)) continue;
    talk.wire.move();
    talk.a.iface->progress();
    if (talk.a.iface->counters.full.get() > 1000) break;
  }
  bytes = talk.a.iface->counters.kept.now.get() + talk.a.iface->counters.buffered.now.get();
  EXPECT_LE(bytes, usual().keep);
  EXPECT_GT(bytes, usual().keep / 2);
  talk.wire.break_all();
  ASSERT_TRUE(talk.settles());
  // The last ones are kept until b has said something.
  ASSERT_TRUE(talk.say(talk.b));
  ASSERT_TRUE(pass_until(talk.wire, {&talk.a, &talk.b}, [&] { return talk.a.iface->counters.kept.now.get() == 0; }));
  EXPECT_EQ(talk.a.iface->counters.buffered.now.get(), 0u);
}

TEST(Resume, OneThatOnlyListensIsAskedNowAndThenWhatItHas) {
  Talk talk;
  for (std::uint64_t n = 0; n < 3000;) {
    if (talk.say(talk.a)) {
      ++n;
      continue;
    }
    talk.wire.move();
    talk.a.iface->progress();
    talk.b.iface->progress();
  }
  ASSERT_TRUE(talk.settles());
  EXPECT_GT(talk.b.iface->counters.acknowledgements.get(), 10u);
  EXPECT_LT(talk.b.iface->counters.acknowledgements.get(), 300u);
  EXPECT_LT(talk.a.iface->counters.kept.now.get(), usual().keep / 2);
}

// What both keep fills up while the answer to the last question says that some of it has come: each has to ask once
// more, though neither can say anything.
TEST(Resume, BothThatAreFullAreAsked) {
  Config config = Talk::patient();
  config.max_bcopy = 32 << 10;
  config.keep = 64 << 10;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    Talk talk(config);
    for (int refused = 0; talk.said[&talk.a] + talk.said[&talk.b] < 1000;) {
      Process& one = random() % 2 != 0 ? talk.a : talk.b;
      if (talk.say(one)) {
        refused = 0;
        continue;
      }
      ASSERT_LT(++refused, 100000) << "seed " << seed;
      if (random() % 2 != 0) talk.wire.move();
      one.iface->progress();
    }
    ASSERT_TRUE(talk.settles()) << "seed " << seed;
  }
}

TEST(Resume, AfterAWhileWithoutAWire) {
  Talk talk;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  talk.wire.break_all();
  talk.wire.down = true;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  decisions.clear();
  (void)pass_until(
      talk.wire, {&talk.a, &talk.b}, [] { return false; }, 300);
  EXPECT_LT(talk.heard[&talk.a], 20u);
  EXPECT_EQ(talk.a.iface->idle(), false);
  talk.wire.down = false;
  ASSERT_TRUE(talk.settles());
  EXPECT_TRUE(talk.a.iface->idle());
  ASSERT_FALSE(decisions.empty());
  EXPECT_NE(decisions[0].find("again|"), std::string::npos) << decisions[0];
  EXPECT_NE(decisions[0].find("was resumed after"), std::string::npos) << decisions[0];
}

// The peer's host refuses: there is no such process any more, and that is told at once.
TEST(Resume, AProcessThatHasEndedIsToldApartAtOnce) {
  for (const bool known : {true, false}) {
    Process a(0), b(1);
    ASSERT_NE(a.connect(1, b), nullptr);
    // Its port is a closed one, as that of a process that was killed.
    const Descriptor free(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const std::uint8_t lo[4] = {127, 0, 0, 1};
    const SocketAddress any(4, lo, 0);
    ASSERT_EQ(bind(free.get(), &any.any, any.length), 0);
    const std::uint16_t closed = SocketAddress::of_own(free.get()).port();
    ashlar_endpoint* const to_a = b.connect(0, a);
    b.send(to_a, 0);
    ASSERT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 1; }));
    auto& at_a = *a.iface;
    Endpoint* const peer = at_a.find(b.address().nonce);
    ASSERT_NE(peer, nullptr);
    peer->known = known;
    peer->address.port = peer->port = closed;
    ASSERT_NE(peer->connection, nullptr);
    shutdown(peer->connection->fd(), SHUT_RDWR);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(progress_until({&a}, [&] { return !a.failures.empty(); })) << known;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500)) << "not the patience of 3 s";
    EXPECT_NE(a.failures[0].second.find("the process has ended"), std::string::npos) << a.failures[0].second;
    EXPECT_NE(a.failures[0].second.find("127.0.0.1:"), std::string::npos) << a.failures[0].second;
  }
}

TEST(Resume, PatienceEndsWithASentence) {
  Config config = Talk::patient();
  config.patience = 200'000'000;
  Talk talk(config);
  ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  // There is no way between the two any more, and nothing refuses.
  Endpoint* const peer = talk.a.iface->find(talk.b.address().nonce);
  const std::uint8_t nowhere[4] = {127, 255, 255, 255};  // a broadcast address: unreachable at once
  std::memcpy(peer->address.candidates.front().bytes, nowhere, sizeof nowhere);
  Endpoint* const other = talk.b.iface->find(talk.a.address().nonce);
  std::memcpy(other->address.candidates.front().bytes, nowhere, sizeof nowhere);
  talk.wire.break_all();
  ASSERT_TRUE(
      pass_until(talk.wire, {&talk.a, &talk.b}, [&] { return !talk.a.failures.empty() && !talk.b.failures.empty(); }));
  const std::string& reason = talk.a.failures[0].second;
  for (const char* words : {"its connection broke", "(127.0.0.", "not made again within 0.2 s (transport.tcp.patience)",
                            "the last that came from it is message 1", " ago", "127.255.255.255:"})
    EXPECT_NE(reason.find(words), std::string::npos) << words << " is not in: " << reason;
}

// A connection that was on its way while another one was made is late, and must not take its place; nor does a proof of
// an earlier connection open one.
TEST(Resume, AConnectionOfThePastIsNotTaken) {
  Talk talk;
  ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  talk.wire.break_all();
  ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  Endpoint* const peer = talk.b.iface->find(talk.a.address().nonce);
  Connection* const current = peer->connection;
  ASSERT_GT(peer->epoch, 1u);
  const unsigned made = talk.wire.made;
  EXPECT_EQ(talk.a.iface->find(talk.b.address().nonce)->epoch, peer->epoch);

  Hello hello = talk.a.iface->hello_to(talk.b.address().nonce);
  Digest last_proof = {};
  for (const bool again : {false, true}) {
    hello.nonce.fill(9);
    const std::uint8_t lo[4] = {127, 0, 0, 1};
    const SocketAddress at(4, lo, talk.b.address().port);
    const Descriptor late(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(late.get(), &at.any, at.length), 0);
    std::string heard;
    const auto hears = [&](std::size_t bytes) {
      heard.clear();
      return progress_until({&talk.b},
                            [&] {
                              char more[64];
                              const ssize_t n = recv(late.get(), more, bytes - heard.size(), MSG_DONTWAIT);
                              if (n > 0) heard.append(more, static_cast<std::size_t>(n));
                              return heard.size() == bytes || n == 0;
                            }) &&
             heard.size() == bytes;
    };
    ASSERT_EQ(::send(late.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
    ASSERT_TRUE(hears(sizeof(Challenge)));
    Challenge challenge;
    std::memcpy(&challenge, heard.data(), sizeof challenge);
    const Digest proof =
        again ? last_proof : proof_of(Side::kDialling, talk.b.address().secret, hello, challenge.nonce);
    last_proof = proof;
    ASSERT_EQ(::send(late.get(), &proof, sizeof proof, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof proof));
    if (again) {
      EXPECT_FALSE(hears(sizeof(Welcome))) << "what was proved once proves nothing again";
      continue;
    }
    ASSERT_TRUE(hears(sizeof(Welcome)));
    Welcome welcome;
    std::memcpy(&welcome, heard.data(), sizeof welcome);
    EXPECT_EQ(welcome.received, 2u);
    EXPECT_EQ(welcome.epoch, peer->epoch);
    const Chosen chosen = {.frame = {.length = 8, .kind = Kind::kChosen, .id = 0, .ack = 0, .h0 = 0, .h1 = 0},
                           .epoch = peer->epoch};
    ASSERT_EQ(::send(late.get(), &chosen, sizeof chosen, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof chosen));
    EXPECT_FALSE(hears(1)) << "it is closed";
  }
  EXPECT_EQ(peer->connection, current);
  ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  EXPECT_EQ(talk.wire.made, made);
}

TEST(Resume, CountsThatCannotBeEndThePair) {
  Talk talk;
  ASSERT_TRUE(talk.say(talk.a) && talk.say(talk.b));
  ASSERT_TRUE(talk.settles());
  // b believes that it has more of a than a has ever sent.
  talk.b.iface->find(talk.a.address().nonce)->received += 3;
  talk.wire.break_all();
  ASSERT_TRUE(pass_until(talk.wire, {&talk.a, &talk.b}, [&] { return !talk.a.failures.empty(); }));
  EXPECT_NE(talk.a.failures[0].second.find("counts the messages otherwise"), std::string::npos);
}

// Both ends of a pair with a bound of connections, over a wire that breaks: closing in order and breaking mix.
TEST(Resume, WithConnectionsThatAreClosedAndComeBack) {
  Config config = Talk::patient();
  config.connections = 1;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    Talk talk(config);
    Process third(2, config);
    ashlar_endpoint* const a_to_third = talk.a.connect(2, third);
    ASSERT_NE(a_to_third, nullptr);
    std::uint64_t to_third = 0;
    for (int i = 0; i < 40; ++i) talk.wire.plans.push_back({.there = 200 + random() % 30000});
    const std::vector<Process*> all = {&talk.a, &talk.b, &third};
    for (int n = 0; n < 200; ++n) {
      (void)talk.say(random() % 2 != 0 ? talk.a : talk.b);
      if (random() % 8 == 0 && a_to_third->ops->am_short(a_to_third, 1, to_third, 0, nullptr, 0) == ASHLAR_OK)
        ++to_third;
      if (random() % 4 == 0) (void)pass_until(talk.wire, all, [&] { return random() % 8 == 0; });
    }
    ASSERT_TRUE(pass_until(
        talk.wire, all, [&] { return talk.all_there() && third.got.size() == to_third; }, 30000))
        << "seed " << seed << ": " << talk.heard[&talk.a] << " of " << talk.said[&talk.b] << ", " << talk.heard[&talk.b]
        << " of " << talk.said[&talk.a] << ", " << third.got.size() << " of " << to_third;
    for (std::uint64_t i = 0; i < to_third; ++i) EXPECT_EQ(third.got[i].second, i);
    EXPECT_GT(talk.a.iface->counters.closed_idle.get(), 0u);
    EXPECT_TRUE(talk.a.failures.empty() && talk.b.failures.empty() && third.failures.empty());
  }
}

}  // namespace
}  // namespace ashlar::tcp::test

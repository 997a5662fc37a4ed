// What every transport owes its messages: order, content, headers, back-pressure.
#include <algorithm>
#include <cstdint>
#include <random>

#include "framework/base/sanitizers.h"
#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Installed, TransportTest, testing::ValuesIn(transports()), component_name);

TEST_P(TransportTest, ComponentTableIsComplete) {
  const Component& c = GetParam();
  EXPECT_EQ(c->abi_major, ASHLAR_COMPONENT_MAJOR);
  EXPECT_EQ(c->interface_version, static_cast<std::uint32_t>(ASHLAR_TRANSPORT_INTERFACE));
  ashlar_transport_context context{};
  context.local_size = 2;
  ashlar_answer answer{};
  c->query(&context, &answer);
  EXPECT_GE(answer.priority, 0);
  EXPECT_STRNE(answer.reason, "");
  for (std::uint32_t i = 0; i < c->param_count; ++i) {
    EXPECT_STRNE(c->params[i].help, "") << c->params[i].name;
    EXPECT_LT(c->params[i].offset, c->config_size) << c->params[i].name;
  }
}

TEST_P(TransportTest, ShortMessagesArriveInOrderWithTheirHeaders) {
  Pair pair(GetParam());
  std::uint64_t next = 0;
  pair.b().on_message = [&](const ashlar_am& am) {
    EXPECT_EQ(am.h0, next);
    EXPECT_EQ(am.h1, ~next);
    EXPECT_EQ(am.id, next % 251);
    EXPECT_EQ(am.length, 8u);
    EXPECT_EQ(am.peer, 0u);
    std::uint64_t body = 0;
    std::memcpy(&body, am.data, 8);
    EXPECT_EQ(body, next * 3);
    ++next;
  };
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t body = i * 3;
    ASSERT_EQ(send_short(pair.to_b, static_cast<std::uint8_t>(i % 251), i, ~i, &body, 8, {&pair.b()}), ASHLAR_OK);
  }
  EXPECT_TRUE(pair.arrive([&] { return next == 20000; })) << next;
}

TEST_P(TransportTest, EverySizeArrivesWhole) {
  Pair pair(GetParam());
  std::size_t got = 0;
  std::vector<unsigned char> expected;
  pair.b().on_message = [&](const ashlar_am& am) {
    ++got;
    const auto* const bytes = static_cast<const unsigned char*>(am.data);
    EXPECT_EQ(std::vector<unsigned char>(bytes, bytes + am.length), expected) << am.length;
  };
  std::size_t sent = 0;
  const auto check = [&](std::uint32_t length, bool bcopy) {
    expected = pattern(length, length);
    const auto send = bcopy ? send_bcopy : send_short;
    ASSERT_EQ(send(pair.to_b, 7, 1, 2, expected.data(), length, {&pair.b()}), ASHLAR_OK);
    ++sent;
    while (got < sent) pair.progress_both();
  };
  for (std::uint32_t n = 0; n <= pair.to_b->max_short; ++n) check(n, false);
  const std::uint32_t last = pair.to_b->max_bcopy;
  for (std::uint32_t n = 0; n <= last; n += n < 1200 || n > last - 80 ? 1 : 61) check(n, true);
  check(last, true);
  EXPECT_EQ(got, sent);
}

TEST_P(TransportTest, TooLongIsAnErrorInWords) {
  Pair pair(GetParam());
  const std::vector<unsigned char> data(1 << 20);
  EXPECT_LT(pair.to_b->ops->am_short(pair.to_b, 1, 0, 0, data.data(), pair.to_b->max_short + 1), 0);
  EXPECT_NE(std::string(last_failure()).find(std::to_string(pair.to_b->max_short)), std::string::npos);
  Source source{data.data(), data.size()};
  EXPECT_LT(pair.to_b->ops->am_bcopy(pair.to_b, 1, 0, 0, fill_from, &source, pair.to_b->max_bcopy + 1), 0);
}

TEST_P(TransportTest, FillMayHandOutPiecesAndAnEarlyEndLeavesNoTrace) {
  Pair pair(GetParam());
  std::vector<std::uint64_t> seen;
  const auto data = pattern(5, 3000);
  pair.b().on_message = [&](const ashlar_am& am) {
    seen.push_back(am.h0);
    EXPECT_EQ(std::memcmp(am.data, data.data(), am.length), 0);
  };
  struct Dribble {
    const unsigned char* at;
    std::size_t left;
  };
  const auto dribble = [](void* argument, void* to, std::size_t room) -> std::size_t {
    auto& d = *static_cast<Dribble*>(argument);
    const std::size_t n = std::min<std::size_t>({room, d.left, 37});
    std::memcpy(to, d.at, n);
    d.at += n;
    d.left -= n;
    return n;
  };
  const std::uint32_t length = std::min<std::uint32_t>(pair.to_b->max_bcopy, 1500);
  for (std::uint64_t i = 0; i < 300; ++i) {
    Dribble whole{data.data(), length};
    while (pair.to_b->ops->am_bcopy(pair.to_b, 1, i, 0, dribble, &whole, length) == ASHLAR_AGAIN) pair.progress_both();
    Dribble half{data.data(), length / 2};
    ashlar_result r;
    while ((r = pair.to_b->ops->am_bcopy(pair.to_b, 1, 99999, 0, dribble, &half, length)) == ASHLAR_AGAIN) {
      pair.progress_both();
    }
    EXPECT_LT(r, 0);
  }
  while (seen.size() < 300) pair.progress_both();
  for (int i = 0; i < 100; ++i) pair.progress_both();
  EXPECT_EQ(seen.size(), 300u);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 99999u), 0);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_P(TransportTest, BackPressureIsAValueAndNothingIsLost) {
  Pair pair(GetParam());
  std::uint64_t got = 0;
  pair.b().on_message = [&](const ashlar_am& am) { EXPECT_EQ(am.h0, got++); };
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    ashlar_result r;
    std::uint64_t burst = 0;
    while ((r = pair.to_b->ops->am_short(pair.to_b, 1, sent, 0, nullptr, 0)) == ASHLAR_OK) {
      ++sent;
      ASSERT_LT(++burst, 10'000'000u) << "no bound on what may wait";
    }
    EXPECT_EQ(r, ASHLAR_AGAIN);
    EXPECT_EQ(pair.to_b->ops->am_short(pair.to_b, 1, sent, 0, nullptr, 0), ASHLAR_AGAIN);
    EXPECT_TRUE(pair.arrive([&] { return got == sent; })) << got << " of " << sent;
  }
}

TEST_P(TransportTest, HandlersMaySend) {
  Pair pair(GetParam());
  // Each message comes back with one more hop until 1000: replies are sent from inside handlers.
  std::uint64_t hops = 0;
  const auto reply = [&hops](ashlar_endpoint* to) {
    return [to, &hops](const ashlar_am& am) {
      hops = am.h0;
      if (am.h0 >= 1000) return;
      EXPECT_EQ(to->ops->am_short(to, 1, am.h0 + 1, 0, &am.h0, 8), ASHLAR_OK);
    };
  };
  pair.a().on_message = reply(pair.to_b);
  if (!pair.loopback()) pair.b().on_message = reply(pair.to_a);
  ASSERT_EQ(pair.to_b->ops->am_short(pair.to_b, 1, 1, 0, nullptr, 0), ASHLAR_OK);
  EXPECT_TRUE(progress_until(pair.both(), [&] { return hops >= 1000; }));
  EXPECT_EQ(hops, 1000u);
}

TEST_P(TransportTest, ARandomMillionKeepsOrderAndContent) {
  Pair pair(GetParam());
#if defined(ASHLAR_TSAN) || defined(ASHLAR_ASAN)
  const std::uint64_t count = 100'000;
#else
  const std::uint64_t count = 1'000'000;
#endif
  const auto bytes = pattern(1, pair.to_b->max_bcopy + 4096);
  std::uint64_t got[2] = {0, 0};
  std::uint64_t wrong = 0;
  // h0: sequence in its direction; h1: checksum over the payload.
  const auto taker = [&](int way) {
    return [&got, &wrong, way](const ashlar_am& am) {
      if (am.h0 != got[way]++ || am.h1 != checksum(am.data, am.length)) ++wrong;
    };
  };
  pair.a().on_message = taker(0);
  pair.b().on_message = taker(1);
  std::mt19937_64 random(8831);
  std::uint64_t sent[2] = {0, 0};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t dice = random();
    const bool to_a = !pair.loopback() && dice % 3 == 0;
    ashlar_endpoint* to = to_a ? pair.to_a : pair.to_b;
    std::uint64_t& number = sent[to_a ? 0 : 1];
    const bool big = dice / 3 % 64 == 0;
    const std::uint32_t limit = big ? to->max_bcopy : dice / 256 % 4 == 0 ? to->max_short : 48;
    const auto length = static_cast<std::uint32_t>((dice >> 20) % (limit + 1));
    const unsigned char* data = bytes.data() + (dice >> 50) % 4096;
    const auto send = big ? send_bcopy : send_short;
    ASSERT_EQ(send(to, 3, number, checksum(data, length), data, length, pair.both()), ASHLAR_OK);
    ++number;
    if (dice % 97 == 0) pair.progress_both();
  }
  EXPECT_TRUE(progress_until(pair.both(), [&] { return got[0] >= sent[0] && got[1] >= sent[1]; }));
  for (int i = 0; i < 1000; ++i) pair.progress_both();
  EXPECT_EQ(got[0], sent[0]);
  EXPECT_EQ(got[1], sent[1]);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace ashlar::test

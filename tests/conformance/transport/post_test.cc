// Offered receives: which message finds which offer, who may write when, and what is left when it is taken back.
#include <cstdint>

#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

constexpr std::uint8_t kId = 3, kOther = 5;
constexpr std::uint64_t kTag = std::uint64_t{7} << 32;

class OfferTest : public TransportTest {
 protected:
  // b receives and offers, a sends.
  struct Talk {
    explicit Talk(const Component& component) : pair(component), memory(1 << 20, 0xee), source(pattern(9, 1 << 20)) {}
    bool offered() const { return pair.to_b && (pair.to_b->capabilities & ASHLAR_CAP_OFFER) != 0; }

    ashlar_result offer(std::uint64_t before, std::uint32_t* number, std::uint64_t length = 1 << 20,
                        std::uint64_t h0 = 1) {
      const ashlar_offer what{h0, kTag, before, memory.data(), length, 0xabc};
      return pair.to_a->ops->offer(pair.to_a, &what, number);
    }
    void send(std::uint32_t name, std::uint8_t id = kId, std::uint64_t h0 = 1) {
      ASSERT_EQ(send_short(pair.to_b, id, h0, kTag | name, nullptr, 0, pair.both()), ASHLAR_OK);
    }
    void deliver() {
      for (int i = 0; i < 1000; ++i) pair.b().progress();
    }
    ashlar_result claim(std::uint32_t name, ashlar_claim* found, std::uint64_t length = 1 << 20) {
      const ashlar_sent sent{1, kTag | name, ~std::uint64_t{0} << 32, 1u << kId, kId, length};
      *found = {};
      return pair.to_b->ops->claim(pair.to_b, &sent, found);
    }
    ashlar_result deposit(ashlar_claim* found, std::uint64_t most, std::uint64_t length = 1 << 20) {
      return pair.to_b->ops->deposit(pair.to_b, found, source.data(), length, most);
    }
    ashlar_result withdraw(std::uint32_t number, std::uint64_t* written) {
      return pair.to_a->ops->withdraw(pair.to_a, number, written);
    }

    Pair pair;
    std::vector<unsigned char> memory, source;
  };
};

INSTANTIATE_TEST_SUITE_P(Installed, OfferTest, testing::ValuesIn(transports()), component_name);

#define NEEDS_OFFERS(talk) \
  if (!(talk).offered()) GTEST_SKIP() << "not offered here"

TEST_P(OfferTest, TheMessageAfterSoManyOfItsKindFindsIt) {
  Talk talk(GetParam());
  NEEDS_OFFERS(talk);
  std::uint32_t first, third;
  ashlar_claim found;
  talk.send(20);  // delivered before the offers: does not count
  talk.deliver();
  talk.send(21);  // on its way: counts
  ASSERT_EQ(talk.offer(1, &first), ASHLAR_OK);
  ASSERT_EQ(talk.offer(2, &third), ASHLAR_OK);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, third);
  EXPECT_EQ(talk.claim(21, &found), ASHLAR_AGAIN);
  talk.send(22, kOther);  // another id
  talk.send(23, kId, 2);  // another place
  talk.send(24);
  talk.send(21);  // the name is used again; the second one is meant
  EXPECT_EQ(talk.claim(24, &found), ASHLAR_OK);
  EXPECT_EQ(found.number, first);
  EXPECT_EQ(found.token, 0xabcu);
  EXPECT_EQ(talk.claim(21, &found), ASHLAR_OK);
  EXPECT_EQ(found.number, third);
  EXPECT_EQ(talk.claim(20, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.claim(24, &found, (1 << 20) + 1), ASHLAR_AGAIN) << "longer than the offer";
  std::uint64_t written = 1;
  EXPECT_EQ(talk.withdraw(first, &written), ASHLAR_OK);
  EXPECT_EQ(written, 0u);
  EXPECT_EQ(talk.claim(24, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(third, &written), ASHLAR_OK);
}

TEST_P(OfferTest, NothingIsWrittenAfterItWasTakenBack) {
  Talk talk(GetParam());
  NEEDS_OFFERS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_claim found;
  ASSERT_EQ(talk.offer(0, &number), ASHLAR_OK);
  talk.send(30);
  ASSERT_EQ(talk.claim(30, &found), ASHLAR_OK);
  EXPECT_EQ(talk.deposit(&found, 4096), ASHLAR_PENDING);
  EXPECT_EQ(talk.deposit(&found, 4096), ASHLAR_PENDING);
  EXPECT_EQ(found.written, 8192u);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 8192u);
  EXPECT_EQ(std::memcmp(talk.memory.data(), talk.source.data(), 8192), 0);
  EXPECT_EQ(talk.deposit(&found, 4096), ASHLAR_AGAIN);
  EXPECT_EQ(talk.memory[8192], 0xee);
  // The same place, another offer: an old claim does not fit it.
  ASSERT_EQ(talk.offer(0, &number), ASHLAR_OK);
  EXPECT_EQ(talk.deposit(&found, 4096), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 0u);
}

TEST_P(OfferTest, AMessageWrittenToItsEndStaysThere) {
  Talk talk(GetParam());
  NEEDS_OFFERS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_claim found;
  ASSERT_EQ(talk.offer(0, &number), ASHLAR_OK);
  talk.send(40);
  ASSERT_EQ(talk.claim(40, &found, 300001), ASHLAR_OK);
  ashlar_result result = ASHLAR_PENDING;
  for (int pieces = 0; result == ASHLAR_PENDING && pieces < 10; ++pieces) result = talk.deposit(&found, 100000, 300001);
  EXPECT_EQ(result, ASHLAR_OK);
  EXPECT_EQ(found.asked, 0u);
  talk.deliver();
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 300001u);
  EXPECT_EQ(std::memcmp(talk.memory.data(), talk.source.data(), 300001), 0);
  EXPECT_EQ(talk.memory[300001], 0xee);
}

TEST_P(OfferTest, ThereIsALimitAndPlacesAreUsedAgain) {
  Talk talk(GetParam());
  NEEDS_OFFERS(talk);
  std::vector<std::uint32_t> numbers;
  std::uint32_t number = 0;
  std::uint64_t written = 0;
  for (int round = 0; round < 3; ++round) {
    while (talk.offer(numbers.size(), &number) == ASHLAR_OK && numbers.size() < 100000) numbers.push_back(number);
    EXPECT_LT(numbers.size(), 100000u);
    EXPECT_GE(numbers.size(), 16u);
    for (const std::uint32_t n : numbers) EXPECT_EQ(talk.withdraw(n, &written), ASHLAR_OK);
    numbers.clear();
  }
}

TEST_P(OfferTest, WhereTheRingHasComeRoundNobodyCanTell) {
  Talk talk(GetParam());
  NEEDS_OFFERS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_claim found;
  ASSERT_EQ(talk.offer(0, &number), ASHLAR_OK);
  for (int i = 0; i < 200000; ++i) {
    talk.send(50, kOther);
    if (i % 64 == 0) talk.pair.b().progress();
  }
  talk.deliver();
  talk.send(51);
  EXPECT_EQ(talk.claim(51, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
}

}  // namespace
}  // namespace ashlar::test

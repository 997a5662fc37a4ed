// Receives posted in shared memory: which message finds which, who may write when, and what is left when one is
// withdrawn.
#include <cstdint>

#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

constexpr std::uint8_t kId = 3, kOther = 5;
constexpr std::uint64_t kTag = std::uint64_t{7} << 32;

class PostTest : public TransportTest {
 protected:
  // b receives and posts, a sends.
  struct Talk {
    explicit Talk(const Component& component) : pair(component), memory(1 << 20, 0xee), source(pattern(9, 1 << 20)) {}
    bool can_post() const { return pair.to_b && (pair.to_b->capabilities & ASHLAR_CAP_POST) != 0; }

    ashlar_result post(std::uint64_t before, std::uint32_t* number, std::uint64_t length = 1 << 20,
                       std::uint64_t h0 = 1) {
      const ashlar_posted what{
          .h0 = h0, .h1 = kTag, .before = before, .address = memory.data(), .length = length, .token = 0xabc};
      return pair.to_a->ops->posts->post(pair.to_a, &what, number);
    }
    void send(std::uint32_t name, std::uint8_t id = kId, std::uint64_t h0 = 1) {
      ASSERT_EQ(send_short(pair.to_b, id, h0, kTag | name, nullptr, 0, pair.both()), ASHLAR_OK);
    }
    void deliver() {
      for (int i = 0; i < 1000; ++i) pair.b().progress();
    }
    ashlar_result find(std::uint32_t name, ashlar_found* found, std::uint64_t length = 1 << 20) {
      const ashlar_sent sent{.h0 = 1, .h1 = kTag | name, .length = length, .ids = 1u << kId, .id = kId};
      *found = {};
      return pair.to_b->ops->posts->find(pair.to_b, &sent, found);
    }
    ashlar_result write(ashlar_found* found, std::uint64_t most, std::uint64_t length = 1 << 20) {
      return pair.to_b->ops->posts->write(pair.to_b, found, source.data(), length, most);
    }
    ashlar_result withdraw(std::uint32_t number, std::uint64_t* written) {
      return pair.to_a->ops->posts->withdraw(pair.to_a, number, written);
    }

    Pair pair;
    std::vector<unsigned char> memory, source;
  };
};

INSTANTIATE_TEST_SUITE_P(Installed, PostTest, testing::ValuesIn(transports()), component_name);

#define NEEDS_POSTS(talk) \
  if (!(talk).can_post()) GTEST_SKIP() << "not done here"

TEST_P(PostTest, TheMessageAfterSoManyOfItsKindFindsIt) {
  Talk talk(GetParam());
  NEEDS_POSTS(talk);
  std::uint32_t first, third;
  ashlar_found found;
  talk.send(20);  // delivered before the posts: does not count
  talk.deliver();
  talk.send(21);  // on its way: counts
  ASSERT_EQ(talk.post(1, &first), ASHLAR_OK);
  ASSERT_EQ(talk.post(2, &third), ASHLAR_OK);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, third);
  EXPECT_EQ(talk.find(21, &found), ASHLAR_AGAIN);
  talk.send(22, kOther);  // another id
  talk.send(23, kId, 2);  // another place
  talk.send(24);
  talk.send(21);  // the name is used again; the second one is meant
  EXPECT_EQ(talk.find(24, &found), ASHLAR_OK);
  EXPECT_EQ(found.number, first);
  EXPECT_EQ(found.token, 0xabcu);
  EXPECT_EQ(talk.find(21, &found), ASHLAR_OK);
  EXPECT_EQ(found.number, third);
  EXPECT_EQ(talk.find(20, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.find(24, &found, (1 << 20) + 1), ASHLAR_AGAIN) << "longer than the receive";
  std::uint64_t written = 1;
  EXPECT_EQ(talk.withdraw(first, &written), ASHLAR_OK);
  EXPECT_EQ(written, 0u);
  EXPECT_EQ(talk.find(24, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(third, &written), ASHLAR_OK);
}

TEST_P(PostTest, NothingIsWrittenAfterItWasTakenBack) {
  Talk talk(GetParam());
  NEEDS_POSTS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_found found;
  ASSERT_EQ(talk.post(0, &number), ASHLAR_OK);
  talk.send(30);
  ASSERT_EQ(talk.find(30, &found), ASHLAR_OK);
  EXPECT_EQ(talk.write(&found, 4096), ASHLAR_PENDING);
  EXPECT_EQ(talk.write(&found, 4096), ASHLAR_PENDING);
  EXPECT_EQ(found.written, 8192u);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 8192u);
  EXPECT_EQ(std::memcmp(talk.memory.data(), talk.source.data(), 8192), 0);
  EXPECT_EQ(talk.write(&found, 4096), ASHLAR_AGAIN);
  EXPECT_EQ(talk.memory[8192], 0xee);
  // The same place, another receive: what was found before does not fit it.
  ASSERT_EQ(talk.post(0, &number), ASHLAR_OK);
  EXPECT_EQ(talk.write(&found, 4096), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 0u);
}

TEST_P(PostTest, AMessageWrittenToItsEndStaysThere) {
  Talk talk(GetParam());
  NEEDS_POSTS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_found found;
  ASSERT_EQ(talk.post(0, &number), ASHLAR_OK);
  talk.send(40);
  ASSERT_EQ(talk.find(40, &found, 300001), ASHLAR_OK);
  ashlar_result result = ASHLAR_PENDING;
  for (int pieces = 0; result == ASHLAR_PENDING && pieces < 10; ++pieces) result = talk.write(&found, 100000, 300001);
  EXPECT_EQ(result, ASHLAR_OK);
  EXPECT_EQ(found.asked, 0u);
  talk.deliver();
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
  EXPECT_EQ(written, 300001u);
  EXPECT_EQ(std::memcmp(talk.memory.data(), talk.source.data(), 300001), 0);
  EXPECT_EQ(talk.memory[300001], 0xee);
}

TEST_P(PostTest, ThereIsALimitAndPlacesAreUsedAgain) {
  Talk talk(GetParam());
  NEEDS_POSTS(talk);
  std::vector<std::uint32_t> numbers;
  std::uint32_t number = 0;
  std::uint64_t written = 0;
  for (int round = 0; round < 3; ++round) {
    while (talk.post(numbers.size(), &number) == ASHLAR_OK && numbers.size() < 100000) numbers.push_back(number);
    EXPECT_LT(numbers.size(), 100000u);
    EXPECT_GE(numbers.size(), 16u);
    for (const std::uint32_t n : numbers) EXPECT_EQ(talk.withdraw(n, &written), ASHLAR_OK);
    numbers.clear();
  }
}

TEST_P(PostTest, WhereTheRingHasComeRoundNobodyCanTell) {
  Talk talk(GetParam());
  NEEDS_POSTS(talk);
  std::uint32_t number;
  std::uint64_t written = 0;
  ashlar_found found;
  ASSERT_EQ(talk.post(0, &number), ASHLAR_OK);
  for (int i = 0; i < 200000; ++i) {
    talk.send(50, kOther);
    if (i % 64 == 0) talk.pair.b().progress();
  }
  talk.deliver();
  talk.send(51);
  EXPECT_EQ(talk.find(51, &found), ASHLAR_AGAIN);
  EXPECT_EQ(talk.withdraw(number, &written), ASHLAR_OK);
}

}  // namespace
}  // namespace ashlar::test

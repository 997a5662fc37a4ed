// Remote reads and writes: content at all sizes and alignments, with an owner that helps and one that does not.
#include <cstdint>

#include "tests/conformance/transport/remote.h"

namespace ashlar::test {
namespace {

class CopyTest : public TransportTest {
 protected:
  // Gets [offset, offset + length) of what a exposed into b; `owner_moves`: the owner runs progress meanwhile.
  static void check(Pair& pair, std::size_t length, std::size_t from_shift, std::size_t to_shift, bool owner_moves) {
    const auto source = pattern(length + from_shift, length + 64);
    std::vector<unsigned char> target(length + 128, 0xee);
    ashlar_key key;
    ASSERT_EQ(pair.a().ops().expose(pair.a().get(), source.data() + from_shift, length, ASHLAR_MEMORY_HOST, &key),
              ASHLAR_OK);
    Completion done;
    unsigned char* to = target.data() + 32 + to_shift;
    const ashlar_result r = pair.to_a->ops->get(pair.to_a, to, &key, 0, length, &done);
    ASSERT_GE(r, 0) << last_failure();
    EXPECT_EQ(pair.outcome(r, done, owner_moves), ASHLAR_OK);
    EXPECT_EQ(std::memcmp(to, source.data() + from_shift, length), 0) << "length " << length;
    EXPECT_EQ(to[-1], 0xee);
    EXPECT_EQ(to[length], 0xee);
    pair.a().ops().unexpose(pair.a().get(), &key);
  }
};

INSTANTIATE_TEST_SUITE_P(Installed, CopyTest, testing::ValuesIn(transports()), component_name);

TEST_P(CopyTest, GetBringsEveryByteAtAnyAlignment) {
  Pair pair(GetParam());
  if (!(pair.to_a->capabilities & ASHLAR_CAP_GET)) GTEST_SKIP() << "not offered here";
  for (const std::size_t length : {0ul, 1ul, 7ul, 64ul, 4095ul, 4096ul, 4097ul, 65535ul, 65536ul, 100001ul, 262144ul,
                                   1048577ul, 4194304ul, 8388608ul}) {
    for (const std::size_t shift : {0ul, 1ul, 13ul, 31ul}) {
      check(pair, length, shift, 31 - shift, shift % 2 == 0);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(CopyTest, PartsOfARegionAndBounds) {
  Pair pair(GetParam());
  if (!(pair.to_a->capabilities & ASHLAR_CAP_GET)) GTEST_SKIP() << "not offered here";
  const auto source = pattern(3, 1 << 20);
  ashlar_key key;
  ASSERT_EQ(pair.a().ops().expose(pair.a().get(), source.data(), source.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  std::vector<unsigned char> target(1 << 20);
  for (const std::size_t offset : {0ul, 1ul, 5000ul, 500000ul}) {
    Completion done;
    const ashlar_result r = pair.to_a->ops->get(pair.to_a, target.data(), &key, offset, 300000, &done);
    ASSERT_GE(r, 0) << last_failure();
    while (r == ASHLAR_PENDING && !done.finished) pair.progress_both();
    EXPECT_EQ(std::memcmp(target.data(), source.data() + offset, 300000), 0);
  }
  Completion done;
  EXPECT_LT(pair.to_a->ops->get(pair.to_a, target.data(), &key, 1, source.size(), &done), 0);
  EXPECT_NE(std::string(last_failure()).find("1048576"), std::string::npos) << last_failure();
  EXPECT_LT(pair.to_a->ops->get(pair.to_a, target.data(), &key, ~0ull, 2, &done), 0);
  pair.a().ops().unexpose(pair.a().get(), &key);
}

TEST_P(CopyTest, MoreRegionsThanDescriptors) {
  Pair pair(GetParam());
  if (!(pair.to_a->capabilities & ASHLAR_CAP_GET)) GTEST_SKIP() << "not offered here";
  const auto source = pattern(4, 200 * 4096);
  std::vector<ashlar_key> keys(200);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(pair.a().ops().expose(pair.a().get(), source.data() + i * 4096, 4096, ASHLAR_MEMORY_HOST, &keys[i]),
              ASHLAR_OK);
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      unsigned char target[4096];
      Completion done;
      const ashlar_result r = pair.to_a->ops->get(pair.to_a, target, &keys[i], 0, 4096, &done);
      ASSERT_GE(r, 0) << last_failure();
      while (r == ASHLAR_PENDING && !done.finished) pair.progress_both();
      EXPECT_EQ(std::memcmp(target, source.data() + i * 4096, 4096), 0);
    }
  }
  for (auto& key : keys) pair.a().ops().unexpose(pair.a().get(), &key);
}

TEST_P(CopyTest, PutWritesExactlyItsBytes) {
  Pair pair(GetParam());
  if (!(pair.to_a->capabilities & ASHLAR_CAP_PUT)) GTEST_SKIP() << "not offered here";
  std::vector<unsigned char> target(100000, 0xee);
  ashlar_key key;
  ASSERT_EQ(pair.a().ops().expose(pair.a().get(), target.data(), target.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  const auto source = pattern(9, 5001);
  Completion done;
  ASSERT_EQ(pair.outcome(pair.to_a->ops->put(pair.to_a, source.data(), &key, 777, source.size(), &done), done),
            ASHLAR_OK)
      << last_failure();
  ASSERT_EQ(flush(pair), ASHLAR_OK);
  EXPECT_EQ(std::memcmp(target.data() + 777, source.data(), source.size()), 0);
  EXPECT_EQ(target[776], 0xee);
  EXPECT_EQ(target[777 + 5001], 0xee);
  EXPECT_LT(pair.to_a->ops->put(pair.to_a, source.data(), &key, 99999, 2, &done), 0);
  pair.a().ops().unexpose(pair.a().get(), &key);
}

// A round of progress has to end soon, however long the message: other messages wait for it.
TEST_P(CopyTest, ALongPutIsCut) {
  if (!has_parameter(GetParam(), "copy_slice")) GTEST_SKIP() << "has no slices";
  Pair pair(GetParam(), {{"copy_slice", "64KiB"}});
  if (!(pair.to_a->capabilities & ASHLAR_CAP_PUT)) GTEST_SKIP() << "not offered here";
  const auto source = pattern(11, 1 << 20);
  std::vector<unsigned char> target(source.size());
  ashlar_key key;
  ASSERT_EQ(pair.a().ops().expose(pair.a().get(), target.data(), target.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  Completion done, after;
  ASSERT_EQ(pair.to_a->ops->put(pair.to_a, source.data(), &key, 0, source.size(), &done), ASHLAR_PENDING);
  ASSERT_EQ(pair.to_a->ops->put(pair.to_a, source.data(), &key, 0, 8, &after), ASHLAR_PENDING) << "the first is older";
  int rounds = 0;
  for (; !done.finished && rounds < 1000; ++rounds) pair.b().progress();
  EXPECT_GE(rounds, 15);
  while (!after.finished) pair.b().progress();
  EXPECT_EQ(done.result, ASHLAR_OK);
  EXPECT_EQ(target, source);
  pair.a().ops().unexpose(pair.a().get(), &key);
}

TEST_P(CopyTest, DeviceMemoryIsRefusedInWords) {
  Pair pair(GetParam());
  if (!pair.a().ops().expose) GTEST_SKIP() << "not offered here";
  ashlar_key key;
  int x = 0;
  EXPECT_LT(pair.a().ops().expose(pair.a().get(), &x, sizeof x, ASHLAR_MEMORY_CUDA, &key), 0);
  EXPECT_NE(std::string(last_failure()).find("memory"), std::string::npos);
}

}  // namespace
}  // namespace ashlar::test

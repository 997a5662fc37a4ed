// What one-sided communication needs of a transport: attributes that say when a put is there, pieces, atomic
// operations, flushes. The owner of the memory does nothing meanwhile, unless said.
#include "tests/conformance/transport/remote.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace ashlar::test {
namespace {

constexpr std::uint32_t kWidths[] = {1, 2, 4, 8};

class RemoteTest : public TransportTest {
 protected:
  static bool has_amo(const Pair& pair) { return (pair.to_a->capabilities & ASHLAR_CAP_AMO) != 0; }

  static ashlar_result amo(Pair& pair, int op, std::uint32_t width, const ashlar_key& key, std::uint64_t offset,
                           std::uint64_t operand, std::uint64_t compare, void* result) {
    Completion done;
    ashlar_result r = ASHLAR_AGAIN;
    while (r == ASHLAR_AGAIN) {
      r = pair.to_a->ops->amo(pair.to_a, op, width, &key, offset, operand, compare, result, &done);
      if (r == ASHLAR_AGAIN) pair.b().progress();
    }
    return pair.outcome(r, done);
  }
};

INSTANTIATE_TEST_SUITE_P(Installed, RemoteTest, testing::ValuesIn(transports()), component_name);

TEST_P(RemoteTest, AttributesGoWithTheFunctions) {
  Pair pair(GetParam());
  const ashlar_iface_attributes attributes = plugin::attributes_of(*pair.b().get());
  const ashlar_endpoint_ops& ops = *pair.to_a->ops;
  EXPECT_LE(attributes.put_completion, static_cast<std::uint32_t>(ASHLAR_PUT_AT_FLUSH));
  EXPECT_TRUE(attributes.put_completion != ASHLAR_PUT_AT_FLUSH || ops.flush != nullptr)
      << "puts are complete at a flush, and there is none";
  EXPECT_TRUE((pair.to_a->capabilities & ASHLAR_CAP_PUT) == 0 || ops.put != nullptr);
  EXPECT_EQ(attributes.pieces_most != 0, ops.getv != nullptr || ops.putv != nullptr);
  EXPECT_LE(attributes.amo_coherent, 1u);
  if (!has_amo(pair)) return;
  EXPECT_TRUE(ops.amo != nullptr) << "the endpoint says that it has atomic operations";
  EXPECT_TRUE(std::any_of(std::begin(attributes.amo_ops), std::end(attributes.amo_ops), [](std::uint32_t bits) {
    return bits != 0;
  })) << "the endpoint has atomic operations, and the attributes name none";
}

// An older caller has room for fewer members.
TEST_P(RemoteTest, AttributesFillWhatTheCallerHas) {
  Pair pair(GetParam());
  if (pair.b().ops().attributes == nullptr) GTEST_SKIP() << "not offered here";
  ashlar_iface_attributes small{}, whole{};
  std::memset(static_cast<void*>(&small), 0xee, sizeof small);
  small.size = offsetof(ashlar_iface_attributes, amo_coherent);
  whole.size = sizeof whole;
  pair.b().ops().attributes(pair.b().get(), &whole);
  pair.b().ops().attributes(pair.b().get(), &small);
  EXPECT_EQ(small.put_completion, whole.put_completion);
  EXPECT_EQ(small.amo_coherent, 0xeeeeeeeeu) << "it lies beyond what the caller has";
  EXPECT_EQ(small.pieces_most, 0xeeeeeeeeu) << "it lies beyond what the caller has";
}

TEST_P(RemoteTest, PutsAreThereWhenTheAttributesSaySo) {
  Pair pair(GetParam());
  const std::uint32_t completion = plugin::attributes_of(*pair.b().get()).put_completion;
  if (completion == ASHLAR_PUT_UNKNOWN || !(pair.to_a->capabilities & ASHLAR_CAP_PUT))
    GTEST_SKIP() << "not offered here";
  std::vector<unsigned char> target(1 << 20);
  const Exposed region(pair, target.data(), target.size());
  for (const std::size_t length : {1ul, 8ul, 4096ul, 100000ul, 1ul << 20}) {
    auto source = pattern(length, length);
    const auto expected = source;
    Completion done;
    const ashlar_result r = pair.to_a->ops->put(pair.to_a, source.data(), &region.key, 0, length, &done);
    ASSERT_EQ(pair.outcome(r, done), ASHLAR_OK) << last_failure();
    std::fill(source.begin(), source.end(), static_cast<unsigned char>(0xdd));  // the source is free
    if (completion == ASHLAR_PUT_AT_FLUSH) {
      ASSERT_EQ(flush(pair), ASHLAR_OK) << last_failure();
    }
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), target.begin())) << "length " << length;
  }
}

TEST_P(RemoteTest, AFlushOfNothingIsOver) {
  Pair pair(GetParam());
  if (pair.to_a->ops->flush == nullptr) GTEST_SKIP() << "not offered here";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(flush(pair), ASHLAR_OK) << last_failure();
}

TEST_P(RemoteTest, PiecesGoWhereTheyBelong) {
  Pair pair(GetParam());
  const std::uint32_t most = plugin::attributes_of(*pair.b().get()).pieces_most;
  const ashlar_endpoint_ops& ops = *pair.to_a->ops;
  if (most == 0) GTEST_SKIP() << "not offered here";
  std::vector<unsigned char> target(1 << 20, 0xee), back(target.size());
  const Exposed region(pair, target.data(), target.size());
  for (const std::uint32_t count : {1u, std::min(2u, most), std::min(65u, most), most}) {
    const std::uint64_t stride = target.size() / count;
    auto source = pattern(count, target.size());
    std::vector<ashlar_piece> pieces, returned;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t length = 1 + (stride - 2) * (i % 4) / 3;
      // From back to front, so that they lie in another order there.
      pieces.push_back({source.data() + (count - 1 - i) * stride, i * stride + 1, length});
      returned.push_back({back.data() + (count - 1 - i) * stride, i * stride + 1, length});
    }
    if (ops.putv != nullptr && (pair.to_a->capabilities & ASHLAR_CAP_PUT)) {
      Completion done;
      ASSERT_EQ(pair.outcome(ops.putv(pair.to_a, &region.key, pieces.data(), count, &done), done), ASHLAR_OK)
          << last_failure();
      ASSERT_EQ(flush(pair), ASHLAR_OK);
      for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::memcmp(target.data() + pieces[i].offset, pieces[i].local, pieces[i].length), 0) << i;
        ASSERT_EQ(target[i * stride], 0xee) << "the byte before piece " << i;
      }
    }
    if (ops.getv != nullptr && (pair.to_a->capabilities & ASHLAR_CAP_GET)) {
      Completion done;
      ASSERT_EQ(pair.outcome(ops.getv(pair.to_a, &region.key, returned.data(), count, &done), done), ASHLAR_OK)
          << last_failure();
      for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_EQ(std::memcmp(target.data() + returned[i].offset, returned[i].local, returned[i].length), 0) << i;
    }
    std::fill(target.begin(), target.end(), static_cast<unsigned char>(0xee));
  }
  const ashlar_piece outside[] = {{back.data(), 0, 8}, {back.data(), target.size() - 1, 2}};
  Completion done;
  EXPECT_TRUE(ops.putv == nullptr || most == 1 || ops.putv(pair.to_a, &region.key, outside, 2, &done) < 0)
      << "the second piece is not within the exposed memory";
}

/// What an operation on an integer of `width` bytes makes of it.
std::uint64_t expected(int op, std::uint32_t width, std::uint64_t was, std::uint64_t operand, std::uint64_t compare) {
  const std::uint64_t mask = width == 8 ? ~0ull : (1ull << (8 * width)) - 1;
  switch (op) {
    case ASHLAR_AMO_ADD:
      return (was + operand) & mask;
    case ASHLAR_AMO_AND:
      return was & operand & mask;
    case ASHLAR_AMO_OR:
      return (was | operand) & mask;
    case ASHLAR_AMO_XOR:
      return (was ^ operand) & mask;
    case ASHLAR_AMO_SWAP:
      return operand & mask;
    default:
      return ((was ^ compare) & mask) == 0 ? operand & mask : was;
  }
}

TEST_P(RemoteTest, EveryAtomicOperationOnEveryWidth) {
  Pair pair(GetParam());
  if (!has_amo(pair)) GTEST_SKIP() << "not offered here";
  const ashlar_iface_attributes attributes = plugin::attributes_of(*pair.b().get());
  alignas(64) std::uint64_t words[4] = {};
  const Exposed region(pair, words, sizeof words);
  for (const std::uint32_t width : kWidths) {
    for (int op = ASHLAR_AMO_ADD; op <= ASHLAR_AMO_COMPARE_SWAP; ++op) {
      if ((attributes.amo_ops[std::countr_zero(width)] >> op & 1) == 0) continue;
      for (const std::uint64_t compare : {0xf0f0f0f0f0f0f0f5ull, 0ull}) {
        const std::uint64_t operand = 0x8877665544332211ull, was = 0xf0f0f0f0f0f0f0f5ull;
        const std::uint64_t mask = width == 8 ? ~0ull : (1ull << (8 * width)) - 1;
        for (const bool fetches : {true, false}) {
          std::fill(std::begin(words), std::end(words), 0xf0f0f0f0f0f0f0f5ull);
          std::memcpy(reinterpret_cast<char*>(words) + 8 + width, &was, width);  // not the first element
          std::uint64_t result = 0;
          ASSERT_EQ(amo(pair, op, width, region.key, 8 + width, operand, compare, fetches ? &result : nullptr),
                    ASHLAR_OK)
              << last_failure();
          ASSERT_EQ(flush(pair), ASHLAR_OK);
          std::uint64_t now = 0;
          std::memcpy(&now, reinterpret_cast<char*>(words) + 8 + width, width);
          EXPECT_EQ(now, expected(op, width, was & mask, operand, compare))
              << "operation " << op << ", width " << width;
          EXPECT_TRUE(!fetches || (result & mask) == (was & mask)) << "operation " << op << ", width " << width;
          EXPECT_EQ(words[0], 0xf0f0f0f0f0f0f0f5ull);
          EXPECT_EQ(words[3], 0xf0f0f0f0f0f0f0f5ull);
        }
      }
    }
  }
}

TEST_P(RemoteTest, AtomicOperationsOfOneEndpointKeepTheirOrder) {
  Pair pair(GetParam());
  if (!has_amo(pair)) GTEST_SKIP() << "not offered here";
  const ashlar_iface_attributes attributes = plugin::attributes_of(*pair.b().get());
  if ((attributes.amo_ops[3] >> ASHLAR_AMO_SWAP & 1) == 0) GTEST_SKIP() << "not offered here";
  alignas(8) std::uint64_t word = 0;
  const Exposed region(pair, &word, sizeof word);
  constexpr std::size_t kCount = 1000;
  std::vector<std::uint64_t> before(kCount);
  std::vector<Completion> done(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ashlar_result r = ASHLAR_AGAIN;
    while (r == ASHLAR_AGAIN) {
      r = pair.to_a->ops->amo(pair.to_a, ASHLAR_AMO_SWAP, 8, &region.key, 0, i + 1, 0, &before[i], &done[i]);
      if (r == ASHLAR_AGAIN) pair.b().progress();
    }
    ASSERT_GE(r, 0) << last_failure();
    if (r == ASHLAR_OK) done[i].finished = true;
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(pair.outcome(ASHLAR_PENDING, done[i]), ASHLAR_OK);
    EXPECT_EQ(before[i], i);
  }
  EXPECT_EQ(word, kCount);
}

// What `amo_coherent` promises: a thread of the owner updates the same word by its processor's instructions.
TEST_P(RemoteTest, CoherentAtomicOperationsLoseNoUpdateOfAProcessor) {
  Pair pair(GetParam());
  if (!has_amo(pair)) GTEST_SKIP() << "not offered here";
  const ashlar_iface_attributes attributes = plugin::attributes_of(*pair.b().get());
  if (attributes.amo_coherent == 0) GTEST_SKIP() << "its atomic operations are atomic among themselves only";
  if ((attributes.amo_ops[3] >> ASHLAR_AMO_ADD & 1) == 0) GTEST_SKIP() << "not offered here";
  alignas(8) std::atomic<std::uint64_t> word = 0;
  const Exposed region(pair, &word, sizeof word);
  constexpr std::uint64_t kEach = 20000;
  std::thread owner([&word] {
    for (std::uint64_t i = 0; i < kEach; ++i) word.fetch_add(1, std::memory_order_relaxed);
  });
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < kEach; ++i) {
    std::uint64_t was = 0;
    const ashlar_result r = amo(pair, ASHLAR_AMO_ADD, 8, region.key, 0, 1, 0, &was);
    EXPECT_EQ(r, ASHLAR_OK);
    EXPECT_GE(was, last);
    last = was;
  }
  owner.join();
  EXPECT_EQ(word.load(), 2 * kEach);
}

TEST_P(RemoteTest, WhatIsNotThereIsRefusedInWords) {
  Pair pair(GetParam());
  if (!has_amo(pair)) GTEST_SKIP() << "not offered here";
  alignas(8) std::uint64_t word = 5;
  const Exposed region(pair, &word, sizeof word);
  std::uint64_t result = 0;
  EXPECT_LT(amo(pair, ASHLAR_AMO_ADD, 8, region.key, 8, 1, 0, &result), 0) << "outside the exposed memory";
  EXPECT_NE(std::string(last_failure()), "");
  EXPECT_LT(amo(pair, ASHLAR_AMO_ADD, 3, region.key, 0, 1, 0, &result), 0) << "a width that there is not";
  EXPECT_LT(amo(pair, 77, 8, region.key, 0, 1, 0, &result), 0) << "an operation that there is not";
  EXPECT_EQ(word, 5u);
}

}  // namespace
}  // namespace ashlar::test

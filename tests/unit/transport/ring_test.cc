// One ring, both ends in one thread: wrapping, skipping, full rings, and that nothing old ever looks published.
#include "components/transport/shm/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace ashlar::shm {
namespace {

constexpr std::uint32_t kShift = 7;  // the smallest ring: 8 KiB
constexpr std::uint32_t kLines = 1u << kShift;

struct Ring {
  Ring() : lines(new Line[kLines]()), slot(new Slot()), dirty(kLines / 64) { connect(); }
  void connect() {
    dirty.assign(kLines / 64, slot->used_before ? ~0ull : 0);
    in.attach(lines.get(), kShift, slot.get());
    out = Outbound();
    out.attach(lines.get(), kShift, slot.get(), dirty.data());
  }
  // Sends `length` bytes of `value`; false: full.
  bool send(std::uint64_t number, std::uint32_t length, std::byte value) {
    const Form form = form_of(length);
    const std::uint32_t n = lines_of(length, form);
    Line* line = out.reserve(n);
    if (!line) return false;
    line->h0 = number;
    line->h1 = ~number;
    std::memset(form == kAligned ? reinterpret_cast<std::byte*>(line + 1) : line->data, static_cast<int>(value),
                length);
    out.publish(line, static_cast<std::uint8_t>(number), length, form, n);
    return true;
  }

  std::unique_ptr<Line[]> lines;
  std::unique_ptr<Slot> slot;
  std::vector<std::uint64_t> dirty;
  Inbound in;
  Outbound out;
};

TEST(RingTest, ASmallMessageIsOneLine) {
  for (std::uint32_t n = 0; n <= kInlineBytes; ++n) EXPECT_EQ(lines_of(n, form_of(n)), 1u) << n;
  EXPECT_EQ(lines_of(kInlineBytes + 1, kPacked), 2u);
  EXPECT_EQ(lines_of(kMaxShort, form_of(kMaxShort)), 8u);
  EXPECT_EQ(lines_of(8192, kAligned), 129u);
}

TEST(RingTest, CopyInlineTouchesExactlyItsBytes) {
  std::byte from[64], to[64];
  for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::uint32_t n = 0; n <= kInlineBytes; ++n) {
    std::memset(to, 0, sizeof to);
    copy_inline(to, from, n);
    EXPECT_EQ(std::memcmp(to, from, n), 0) << n;
    for (std::uint32_t i = n; i < sizeof to; ++i) EXPECT_EQ(to[i], std::byte{0}) << n;
  }
}

// Payloads are made of bytes that look like head words of every phase; a stale one taken for a record would show.
TEST(RingTest, RandomRecordsOverManyLapsAndSenders) {
  Ring ring;
  std::mt19937_64 random(20);
  struct Sent {
    std::uint64_t number;
    std::uint32_t length;
    std::byte value;
  };
  std::deque<Sent> under_way;
  std::uint64_t next = 0, taken = 0;
  const auto take = [&](unsigned budget) {
    return ring.in.drain(
        budget, [&](std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const std::byte* data, std::uint32_t length) {
          ASSERT_FALSE(under_way.empty());
          const Sent expected = under_way.front();
          under_way.pop_front();
          ++taken;
          ASSERT_EQ(h0, expected.number);
          ASSERT_EQ(h1, ~expected.number);
          ASSERT_EQ(id, static_cast<std::uint8_t>(expected.number));
          ASSERT_EQ(length, expected.length);
          for (std::uint32_t i = 0; i < length; ++i) ASSERT_EQ(data[i], expected.value);
        });
  };
  for (int step = 0; step < 400'000 && !HasFatalFailure(); ++step) {
    const std::uint64_t dice = random();
    if (dice % 3 != 0) {
      const std::uint32_t limit = dice % 7 == 0 ? 1920 : dice % 5 == 0 ? 400 : 41;
      const Sent s{next, static_cast<std::uint32_t>((dice >> 16) % (limit + 1)), static_cast<std::byte>(dice >> 40)};
      if (ring.send(s.number, s.length, s.value)) {
        under_way.push_back(s);
        ++next;
      }
    } else {
      take(static_cast<unsigned>(dice >> 8) % 4);
    }
    EXPECT_EQ(ring.in.has_news(), !under_way.empty());
    if (dice % 20011 == 0) {  // the sender leaves, another one takes the ring
      while (take(100) > 0) {
      }
      ASSERT_TRUE(under_way.empty());
      ring.in.rewind_for_next_sender();
      ring.connect();
    }
  }
  while (take(100) > 0) {
  }
  EXPECT_EQ(taken, next);
  EXPECT_GT(next, 100'000u);
}

TEST(RingTest, AFullRingTakesAgainAfterAQuarterIsFree) {
  Ring ring;
  std::uint64_t n = 0;
  while (ring.send(n, 8, std::byte{1})) ++n;
  EXPECT_EQ(n, kLines - 1) << "one line stays free";
  unsigned freed = 0;
  while (!ring.send(n, 8, std::byte{1})) {
    ASSERT_LE(freed, kLines / 4);
    freed += ring.in.drain(1, [](auto...) {});
  }
}

// The longest record must fit again whatever the position, once the receiver has emptied the ring.
TEST(RingTest, TheLongestRecordNeverStarves) {
  for (std::uint32_t before = 0; before < kLines; ++before) {
    Ring ring;
    for (std::uint32_t i = 0; i < before; ++i) {
      ASSERT_TRUE(ring.send(i, 0, std::byte{}));
      ring.in.drain(1, [](auto...) {});
    }
    EXPECT_TRUE(ring.send(before, (8 << 10) / 4 - 128, std::byte{7})) << "at line " << before;
    EXPECT_EQ(ring.in.drain(2, [](auto...) {}), 1u);
  }
}

TEST(RingTest, AnAbandonedRecordLeavesNoTrace) {
  Ring ring;
  for (int lap = 0; lap < 10; ++lap) {
    Line* line = ring.out.reserve(5);
    ASSERT_NE(line, nullptr);
    std::memset(line->data, 0xff, 5 * 64 - 24);
    ring.out.abandon(5);
    EXPECT_FALSE(ring.in.has_news());
    for (std::uint32_t i = 0; i < 37; ++i) {
      ASSERT_TRUE(ring.send(i, 8, std::byte{3}));
      EXPECT_EQ(ring.in.drain(8, [](auto...) {}), 1u);
      EXPECT_FALSE(ring.in.has_news());
    }
  }
}

TEST(GeometryTest, PartsDoNotOverlap) {
  for (const std::uint32_t slots : {1u, 33u, 160u, kMaxSlots}) {
    const Geometry g{slots, 8 << 10};
    EXPECT_GE(Geometry::copies_at(), sizeof(SegmentHeader));
    EXPECT_GE(Geometry::slots_at(), Geometry::copies_at() + kCopies * sizeof(CopyDescriptor));
    EXPECT_GE(g.rings_at(), Geometry::slots_at() + slots * sizeof(Slot));
    EXPECT_EQ(g.rings_at() % kPage, 0u);
    EXPECT_EQ(g.bytes(), g.ring_at(slots - 1) + g.ring_bytes);
  }
}

}  // namespace
}  // namespace ashlar::shm

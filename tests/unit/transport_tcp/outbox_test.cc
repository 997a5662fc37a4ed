#include "components/transport/tcp/outbox.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace ashlar::tcp {
namespace {

class OutboxTest : public testing::Test {
 protected:
  void put(Kind kind, std::uint32_t length, char fill = 'x') {
    const Frame frame = {.length = length, .kind = kind, .id = 0, .ack = 9, .h0 = 0, .h1 = 0};
    const bool elsewhere = kind == Kind::kGetData;
    std::byte* const to = out.append(sizeof frame + (elsewhere ? 0 : length), kind == Kind::kMessage);
    std::memcpy(to, &frame, sizeof frame);
    if (!elsewhere) std::memset(to + sizeof frame, fill, length);
  }
  std::string waiting(std::size_t skip = 0, std::size_t most = SIZE_MAX) {
    iovec parts[64];
    const int count = out.gather(parts, 64, skip, most);
    std::string all;
    for (int i = 0; i < count; ++i) all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    return all;
  }
  void check_levels() {
    EXPECT_EQ(buffered.now.get(), out.waiting());
    EXPECT_EQ(kept.now.get(), out.size() - out.waiting());
  }

  BlockPool pool{16 << 10};
  MarkedLevel buffered, kept;
  Outbox out{pool, {.waiting = buffered, .kept = kept}};
};

TEST_F(OutboxTest, MessagesAreKeptUntilTheyHaveArrived) {
  put(Kind::kMessage, 100);
  put(Kind::kMessage, 200);
  EXPECT_EQ(out.waiting(), 300 + 2 * sizeof(Frame));
  out.sent(out.waiting());
  EXPECT_TRUE(out.all_sent());
  EXPECT_EQ(out.size(), 300 + 2 * sizeof(Frame));
  check_levels();
  EXPECT_TRUE(out.acknowledge(1));
  EXPECT_EQ(out.size(), 200 + sizeof(Frame));
  EXPECT_TRUE(out.acknowledge(2));
  EXPECT_EQ(out.size(), 0u);
  EXPECT_FALSE(out.has_messages());
  check_levels();
}

TEST_F(OutboxTest, OtherFramesGoWhenTheyHaveLeft) {
  put(Kind::kGet, 24);
  put(Kind::kGetData, 5000);  // of which only the head is here
  EXPECT_EQ(out.waiting(), 24 + 2 * sizeof(Frame));
  out.sent(10);
  EXPECT_EQ(out.size(), 24 + 2 * sizeof(Frame)) << "it has to be sent whole";
  out.sent(out.waiting());
  EXPECT_EQ(out.size(), 0u);
  put(Kind::kMessage, 1);
  put(Kind::kAck, 0);
  out.sent(out.waiting());
  EXPECT_EQ(out.size(), 1 + 2 * sizeof(Frame)) << "behind a message that is kept";
  EXPECT_TRUE(out.acknowledge(1));
  EXPECT_EQ(out.size(), 0u);
}

TEST_F(OutboxTest, CountsGoAround) {
  for (std::uint32_t i = 1; i <= 200000; ++i) {
    put(Kind::kMessage, 0);
    out.sent(sizeof(Frame));
    if (i % 1000 == 0) {
      ASSERT_TRUE(out.acknowledge(static_cast<std::uint16_t>(i - 500))) << i;
    }
    ASSERT_LE(out.messages(), 1500u);
  }
  EXPECT_EQ(out.acknowledged(), 199500u);
}

TEST_F(OutboxTest, WhatWasNeverSentIsNotAcknowledged) {
  put(Kind::kMessage, 0);
  EXPECT_FALSE(out.acknowledge(2));
  EXPECT_FALSE(out.acknowledge(65535)) << "a count that has gone back";
  EXPECT_FALSE(out.resume_at(2));
}

// The peer has it from an earlier connection, and counts what comes over this one: it has to be sent whole.
TEST_F(OutboxTest, AnAcknowledgedMessageThatWaitsIsSentAllTheSame) {
  put(Kind::kMessage, 10);
  put(Kind::kMessage, 20);
  out.sent(5);
  EXPECT_TRUE(out.acknowledge(2));
  EXPECT_EQ(out.waiting(), 30 + 2 * sizeof(Frame) - 5);
  out.sent(out.waiting());
  EXPECT_EQ(out.size(), 0u);
}

TEST_F(OutboxTest, AfterABreakTheMessagesWaitAgainAndTheOthersAreGone) {
  put(Kind::kMessage, 3, 'a');
  put(Kind::kGet, 24);
  put(Kind::kMessage, 3, 'b');
  put(Kind::kGetData, 1000);
  put(Kind::kMessage, 3, 'c');
  out.sent(sizeof(Frame) * 2 + 30);
  out.rewind(77);
  EXPECT_EQ(out.waiting(), 3 * (3 + sizeof(Frame)));
  check_levels();
  EXPECT_TRUE(out.resume_at(1));
  EXPECT_EQ(out.first(), 1u);
  const char head[32] = "the first frame of a connection";
  out.put_first(head, sizeof head);
  const std::string all = waiting();
  ASSERT_EQ(all.size(), sizeof head + 2 * (3 + sizeof(Frame)));
  EXPECT_EQ(all.substr(0, sizeof head), std::string(head, sizeof head));
  EXPECT_EQ(all.substr(sizeof head + sizeof(Frame), 3), "bbb");
  EXPECT_EQ(all.substr(all.size() - 3), "ccc");
  Frame frame;
  std::memcpy(&frame, all.data() + sizeof head, sizeof frame);
  EXPECT_EQ(frame.ack, 77) << "what was received before the break";
  check_levels();
}

TEST_F(OutboxTest, WhatIsGivenUpKeepsItsNumbers) {
  put(Kind::kMessage, 3);
  put(Kind::kMessage, 3);
  out.rewind(0);
  out.forget_before(1);
  EXPECT_EQ(out.first(), 1u);
  out.forget();
  EXPECT_EQ(out.first(), 2u);
  EXPECT_EQ(out.waiting(), 0u);
  EXPECT_TRUE(out.resume_at(0)) << "the peer has not received them, and will not";
  EXPECT_EQ(out.first(), 2u);
  check_levels();
}

// Against a plain string of bytes.
TEST_F(OutboxTest, AgreesWithAModelOverRandomSteps) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    BlockPool small(16 << 10);
    MarkedLevel waits, keeps;
    Outbox box(small, {.waiting = waits, .kept = keeps});
    std::string model;  // what waits
    std::uint64_t acknowledged = 0, whole = 0, numbered = 0;
    std::vector<std::pair<std::uint64_t, bool>> ends;  // of frames, in the row of all bytes; whether a message
    std::uint64_t put_in = 0, left = 0;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 2 == 0 && box.size() < 200000) {
        const bool message = random() % 3 != 0;
        const auto length = static_cast<std::uint32_t>(random() % 10 == 0 ? random() % 20000 : random() % 300);
        const Frame frame = {.length = length,
                             .kind = message ? Kind::kMessage : Kind::kGet,
                             .id = 0,
                             .ack = 0,
                             .h0 = random(),
                             .h1 = 0};
        std::string bytes(reinterpret_cast<const char*>(&frame), sizeof frame);
        bytes.append(length, static_cast<char>(random()));
        std::memcpy(box.append(bytes.size(), message), bytes.data(), bytes.size());
        model += bytes;
        put_in += bytes.size();
        ends.emplace_back(put_in, message);
        if (message) ++numbered;
      } else if (!model.empty()) {
        iovec parts[32];
        const std::size_t skip = random() % 4 == 0 ? random() % model.size() : 0;
        const int count = box.gather(parts, 32, skip, SIZE_MAX);
        std::string all;
        for (int i = 0; i < count; ++i) all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
        ASSERT_EQ(all, model.substr(skip, all.size())) << "seed " << seed << ", step " << step;
        const std::size_t n = random() % (model.size() + 1);
        box.sent(n);
        model.erase(0, n);
        left += n;
      }
      while (!ends.empty() && ends.front().first <= left) {
        whole += ends.front().second ? 1 : 0;
        ends.erase(ends.begin());
      }
      if (random() % 5 == 0 && whole > acknowledged) {
        acknowledged += random() % (whole - acknowledged + 1);
        ASSERT_TRUE(box.acknowledge(static_cast<std::uint16_t>(acknowledged)));
      }
      ASSERT_EQ(box.waiting(), model.size());
      ASSERT_EQ(waits.now.get(), model.size());
      ASSERT_EQ(keeps.now.get(), box.size() - model.size());
      ASSERT_EQ(box.messages(), numbered - acknowledged);
    }
  }
}

}  // namespace
}  // namespace ashlar::tcp

// What transports owe that match tags for the kernel.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "framework/plugin/tables.h"
#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

/// A receive or claim that remembers.
struct TagReceive : ashlar_tag_receive {
  TagReceive() : ashlar_tag_receive{} {
    done = [](ashlar_tag_receive* self, const ashlar_tag_event* told) {
      auto& r = *static_cast<TagReceive*>(self);
      ++r.ends;
      r.event = *told;
      if (told->data != nullptr) r.claimed.assign(static_cast<const char*>(told->data), told->length);
    };
  }
  bool taken() const { return ends == 1 && event.result == ASHLAR_OK; }
  int ends = 0;
  ashlar_tag_event event = {};
  std::string claimed, room = std::string(256, '.');
};

class TagTest : public TransportTest {
 protected:
  void SetUp() override {
    pair_ = std::make_unique<Pair>(GetParam(), Settings{}, true);
    tags_ = pair_->b().ops().tags;
    attributes_ = plugin::attributes_of(*pair_->b().get());
    const bool both =
        tags_ != nullptr && ((pair_->to_a->capabilities & pair_->to_b->capabilities) & ASHLAR_CAP_TAG) != 0;
    EXPECT_EQ(both,
              attributes_.tag_bits != 0 && attributes_.tag_bits == plugin::attributes_of(*pair_->a().get()).tag_bits);
    if (!both) GTEST_SKIP() << "it does not match tags";
    EXPECT_GE(attributes_.tag_bits, 48u);
    EXPECT_GE(attributes_.tag_most, 1024u);
  }
  /// From a to b.
  void send(std::uint64_t tag, std::uint64_t immediate, const std::string& text) {
    ashlar_result result = ASHLAR_AGAIN;
    while (result == ASHLAR_AGAIN) {
      Source source{reinterpret_cast<const unsigned char*>(text.data()), text.size()};
      result = tags_->send(pair_->to_b, tag, immediate, fill_from, &source, static_cast<std::uint32_t>(text.size()));
      if (result == ASHLAR_AGAIN) pair_->progress_both();
    }
    ASSERT_EQ(result, ASHLAR_OK);
  }
  ashlar_result try_post(TagReceive& r, std::uint64_t tag, std::uint64_t ignored = 0) {
    return tags_->receive(pair_->to_a, tag, ignored, r.room.data(), static_cast<std::uint32_t>(r.room.size()), &r);
  }
  void post(TagReceive& r, std::uint64_t tag, std::uint64_t ignored = 0) {
    ashlar_result result = ASHLAR_AGAIN;
    while ((result = try_post(r, tag, ignored)) == ASHLAR_AGAIN) pair_->progress_both();
    ASSERT_EQ(result, ASHLAR_PENDING);
  }
  /// True: a message was taken. It is there already, or it is not coming.
  bool claim(TagReceive& r, std::uint64_t tag, std::uint64_t ignored, bool of_any = false) {
    r.ends = 0;
    const ashlar_result result = tags_->claim(pair_->b().get(), of_any ? nullptr : pair_->to_a, tag, ignored, &r);
    if (result == ASHLAR_AGAIN) return false;
    EXPECT_EQ(result, ASHLAR_PENDING);
    EXPECT_TRUE(pair_->arrive([&] { return r.ends != 0; }));
    return r.taken();
  }
  /// A claim takes the message, so none is tried again once one has found it.
  bool claim_soon(TagReceive& r, std::uint64_t tag, std::uint64_t ignored, bool of_any = false) {
    bool found = false;
    return pair_->arrive([&] {
      if (!found) found = claim(r, tag, ignored, of_any);
      if (!found) pair_->progress_both();
      return found;
    });
  }
  /// Whatever a has sent is at b.
  void settle() {
    bool here = false;
    pair_->b().on_message = [&](const ashlar_am&) { here = true; };
    ASSERT_EQ(send_short(pair_->to_b, 1, 0, 0, nullptr, 0, pair_->both()), ASHLAR_OK);
    ASSERT_TRUE(pair_->arrive([&] { return here; }));
  }

  std::unique_ptr<Pair> pair_;
  const ashlar_tag_ops* tags_ = nullptr;
  ashlar_iface_attributes attributes_ = {};
};

INSTANTIATE_TEST_SUITE_P(Installed, TagTest, testing::ValuesIn(transports()), component_name);

TEST_P(TagTest, TagsFindTheReceivesThatArePosted) {
  const std::uint64_t high = std::uint64_t{1} << (attributes_.tag_bits - 1);
  TagReceive exact, other, wide;
  post(other, high | 6);
  post(exact, high | 5);
  post(wide, 0, high | 0xff);
  const std::uint64_t immediate = (std::uint64_t{1} << ASHLAR_TAG_IMMEDIATE_BITS) - 2;
  send(high | 5, immediate, "exact");
  ASSERT_TRUE(pair_->arrive([&] { return exact.ends != 0; }));
  EXPECT_TRUE(exact.taken());
  EXPECT_EQ(exact.event.tag, high | 5);
  EXPECT_EQ(exact.event.immediate, immediate);
  EXPECT_EQ(exact.event.length, 5u);
  EXPECT_EQ(exact.event.peer, 0u);
  EXPECT_EQ(exact.room.substr(0, 6), "exact.");
  EXPECT_EQ(other.ends + wide.ends, 0);
  send(high | 7, 1, "");
  ASSERT_TRUE(pair_->arrive([&] { return wide.ends != 0; }));
  EXPECT_EQ(wide.event.length, 0u);
  EXPECT_EQ(wide.event.tag, high | 7);
  send(high | 6, 1, "last");
  ASSERT_TRUE(pair_->arrive([&] { return other.ends != 0; }));
  EXPECT_EQ(other.room.substr(0, 5), "last.");
}

TEST_P(TagTest, TagsKeepTheOrderOfMessagesAndOfReceives) {
  for (const char* text : {"1", "2", "3"}) send(9, 0, text);
  settle();
  TagReceive first, second, third, fourth, fifth;
  post(first, 9);
  post(second, 8, 1);
  post(third, 9);
  post(fourth, 9);
  post(fifth, 8, 1);
  send(9, 0, "4");
  send(8, 0, "5");
  ASSERT_TRUE(pair_->arrive([&] { return fifth.ends != 0 && fourth.ends != 0 && third.ends != 0; }));
  const std::string all = first.room.substr(0, 1) + second.room[0] + third.room[0] + fourth.room[0] + fifth.room[0];
  EXPECT_EQ(all, "12345");
}

TEST_P(TagTest, TagsOfEverySizeArriveWhole) {
  for (std::uint32_t length = 0;; length = std::min(attributes_.tag_most, length * 2 + 61)) {
    TagReceive r;
    r.room.assign(attributes_.tag_most, '.');
    const auto bytes = pattern(length, length);
    const std::string text(bytes.begin(), bytes.end());
    if (length % 2 == 0) post(r, 3);
    send(3, length, text);
    if (length % 2 != 0) post(r, 3);
    ASSERT_TRUE(pair_->arrive([&] { return r.ends != 0; }));
    ASSERT_EQ(r.event.length, length);
    ASSERT_EQ(r.room.substr(0, length), text);
    if (length == attributes_.tag_most) break;
  }
}

TEST_P(TagTest, TagsTellHowLongAMessageWasThatIsCutOff) {
  TagReceive posted, late;
  posted.room.resize(4);
  late.room.resize(0);
  post(posted, 3);
  send(3, 7, "longer than the receive");
  ASSERT_TRUE(pair_->arrive([&] { return posted.ends != 0; }));
  send(3, 8, "long");
  settle();
  post(late, 3);
  ASSERT_TRUE(pair_->arrive([&] { return late.ends != 0; }));
  EXPECT_TRUE(posted.taken() && late.taken());
  EXPECT_EQ(posted.event.length, 23u);
  EXPECT_EQ(posted.event.immediate, 7u);
  EXPECT_EQ(late.event.length, 4u);
  EXPECT_EQ(late.event.immediate, 8u);
}

TEST_P(TagTest, TagsThatMetNoReceiveAreClaimedOldestFirst) {
  TagReceive r;
  EXPECT_FALSE(claim(r, 0, ~std::uint64_t{0} >> (64 - attributes_.tag_bits)));
  send(2, 20, "two");
  send(1, 10, "one");
  send(2, 21, "two again");
  settle();
  EXPECT_FALSE(claim(r, 4, 0));
  ASSERT_TRUE(claim_soon(r, 0, 3, true));
  EXPECT_EQ(r.claimed, "two");
  EXPECT_EQ(r.event.tag, 2u);
  EXPECT_EQ(r.event.immediate, 20u);
  EXPECT_EQ(r.event.peer, 0u);
  ASSERT_TRUE(claim_soon(r, 2, 0));
  EXPECT_EQ(r.claimed, "two again");
  TagReceive posted;
  post(posted, 1);
  ASSERT_TRUE(pair_->arrive([&] { return posted.ends != 0; }));
  EXPECT_EQ(posted.room.substr(0, 4), "one.");
  EXPECT_FALSE(claim(r, 0, 3, true));
}

TEST_P(TagTest, TagsGoToReceivesThatWerePostedBeforeAClaim) {
  for (int round = 0; round < 200; ++round) {
    send(6, 0, "one");
    settle();
    TagReceive posted, r;
    post(posted, 6);
    ASSERT_FALSE(claim(r, 6, 0)) << round;
    ASSERT_TRUE(pair_->arrive([&] { return posted.ends != 0; }));
    ASSERT_EQ(posted.room.substr(0, 3), "one");
  }
}

TEST_P(TagTest, TagsAreThereWhenWhatWasSentBehindThemIs) {
  TagReceive r;
  const std::string long_one(attributes_.tag_most, 'l');
  for (int round = 0; round < 200; ++round) {
    send(5, 0, round % 3 == 0 ? long_one : "x");
    settle();
    ASSERT_TRUE(claim(r, 5, 0)) << round;
  }
}

TEST_P(TagTest, TagsAreAnnouncedByAMessageInFrontOfThem) {
  std::uint64_t told = 0;
  TagReceive r;
  post(r, 5);
  pair_->b().on_message = [&](const ashlar_am& am) { told = am.h0 + am.h1 + am.id + am.length; };
  ashlar_result result = ASHLAR_AGAIN;
  while ((result = tags_->announce(pair_->to_b, 5, 6, 1, 10, 100, "abc", 3)) == ASHLAR_AGAIN) pair_->progress_both();
  ASSERT_EQ(result, ASHLAR_OK);
  ASSERT_TRUE(pair_->arrive([&] { return r.ends != 0 && told != 0; }));
  EXPECT_EQ(told, 114u);
  EXPECT_EQ(r.event.length, 0u);
  EXPECT_EQ(r.event.immediate, 6u);
}

TEST_P(TagTest, TagsOfReceivesThatAreTakenBackFindOthers) {
  int cancelled = 0;
  for (int round = 0; round < 200; ++round) {
    TagReceive r;
    post(r, 5);
    if (round % 3 != 0) send(5, 0, "x");
    if (round % 3 == 1) pair_->a().progress();
    tags_->cancel(pair_->b().get(), &r);
    ASSERT_TRUE(pair_->arrive([&] { return r.ends != 0; }));
    ASSERT_EQ(r.ends, 1);
    if (r.event.result == ASHLAR_AGAIN) {
      ++cancelled;
      TagReceive again;
      if (round % 3 != 0) {
        ASSERT_TRUE(claim_soon(again, 5, 0)) << round;
      } else {
        settle();
        ASSERT_FALSE(claim(again, 5, 0));
      }
    } else {
      ASSERT_TRUE(r.taken());
      ASSERT_NE(round % 3, 0);
    }
  }
  EXPECT_GE(cancelled, 200 / 3);
}

// Of each tag the messages are taken in their order, each once, by receives, wide ones and claims.
TEST_P(TagTest, TagsOfRandomTrafficAreTakenOnceAndInOrder) {
  constexpr unsigned kTags = 4, kMessages = 3000;
  std::mt19937 random(11);
  std::deque<std::unique_ptr<TagReceive>> posted;
  std::map<std::uint64_t, std::uint64_t> next_out, next_in;
  unsigned sent = 0, taken = 0;
  TagReceive claiming;
  bool under_claim = false;
  const auto look = [&](TagReceive& r) {
    if (r.event.result == ASHLAR_AGAIN) return;
    ASSERT_EQ(r.event.result, ASHLAR_OK);
    ++taken;
    ASSERT_EQ(r.event.immediate, next_in[r.event.tag]++) << "tag " << r.event.tag;
    ASSERT_EQ(r.event.length, r.event.immediate % 50);
  };
  const auto collect = [&] {
    // A receive that was posted first has an older message, so ends are looked at in that order.
    for (auto at = posted.begin(); at != posted.end();) {
      if ((*at)->ends == 0) break;
      look(**at);
      at = posted.erase(at);
    }
  };
  while (taken < kMessages && !HasFatalFailure()) {
    if (sent < kMessages && random() % 3 == 0) {
      const std::uint64_t tag = random() % kTags;
      const std::uint64_t number = next_out[tag]++;
      send(tag, number, std::string(number % 50, 'x'));
      ++sent;
    }
    // One claim at a time, and nothing is posted under it that could take what it has passed.
    if (under_claim && claiming.ends != 0) {
      look(claiming);
      under_claim = false;
    }
    if (!under_claim && posted.empty() && random() % 4 == 0) {
      claiming.ends = 0;
      under_claim = tags_->claim(pair_->b().get(), nullptr, 0, kTags - 1, &claiming) == ASHLAR_PENDING;
    } else if (!under_claim && posted.size() < 20 && random() % 2 == 0) {
      auto r = std::make_unique<TagReceive>();
      const ashlar_result result = try_post(*r, 0, kTags - 1);
      if (result == ASHLAR_PENDING) posted.push_back(std::move(r));
    }
    pair_->progress_both();
    collect();
  }
  EXPECT_EQ(taken, kMessages);
  for (const auto& r : posted) tags_->cancel(pair_->b().get(), r.get());
  EXPECT_TRUE(pair_->arrive(
      [&] { return std::all_of(posted.begin(), posted.end(), [](const auto& r) { return r->ends != 0; }); }));
}

}  // namespace
}  // namespace ashlar::test

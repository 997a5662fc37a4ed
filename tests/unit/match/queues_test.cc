#include "framework/match/queues.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <vector>

namespace ashlar::match {
namespace {

bool fits(const Key& wanted, const Key& message) {
  return wanted.context() == message.context() &&
         (wanted.source() == MPI_ANY_SOURCE || wanted.source() == message.source()) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == message.tag);
}

/// The standard's rules, written naively: two lists in order.
class Model {
 public:
  struct Item {
    Key key;
    int number;
  };
  int post(const Key& wanted, int number) {
    for (auto at = messages.begin(); at != messages.end(); ++at) {
      if (!fits(wanted, at->key)) continue;
      const int found = at->number;
      messages.erase(at);
      return found;
    }
    receives.push_back({wanted, number});
    return -1;
  }
  int arrive(const Key& message, int number) {
    for (auto at = receives.begin(); at != receives.end(); ++at) {
      if (!fits(at->key, message)) continue;
      const int found = at->number;
      receives.erase(at);
      return found;
    }
    messages.push_back({message, number});
    return -1;
  }
  std::list<Item> receives, messages;
};

struct Receive : Entry {
  int number = 0;
};
struct Kept : Message {
  int number = 0;
};

class RandomTraffic : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTraffic, MatchesAsTheStandardSays) {
  std::mt19937 random(GetParam());
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  PostedQueue posted;
  UnexpectedQueue unexpected;
  Model model;
  std::list<Receive> receives;
  std::list<Kept> kept;
  const int sources = 1 + below(4), tags = 1 + below(5), contexts = 1 + below(2);
  const int wildness = below(5);
  for (int step = 0; step < 20000; ++step) {
    // Phases in which one side runs ahead, so that both queues get long.
    const bool receive = below(100) < ((step / 2000) % 2 == 0 ? 70 : 30);
    const auto context = static_cast<std::uint32_t>(2 * (1 + below(contexts)));
    Key key{Key::place(context, below(sources)), below(tags)};
    if (receive) {
      if (below(10) < wildness) key.where = Key::place(context, MPI_ANY_SOURCE);
      if (below(10) < wildness) key.tag = MPI_ANY_TAG;
      int found = -1;
      if (Message* message = unexpected.find(key)) {
        found = static_cast<Kept*>(message)->number;
        unexpected.remove(*message);
      } else {
        Receive& r = receives.emplace_back();
        r.number = step;
        r.key = key;
        posted.post(r);
      }
      ASSERT_EQ(found, model.post(key, step)) << "receive " << step;
    } else {
      int found = -1;
      if (Entry* entry = posted.take(key)) {
        found = static_cast<Receive*>(entry)->number;
      } else {
        Kept& message = kept.emplace_back();
        message.number = step;
        message.key = key;
        unexpected.add(message);
      }
      ASSERT_EQ(found, model.arrive(key, step)) << "message " << step;
    }
  }
  EXPECT_EQ(unexpected.count(), model.messages.size());
  EXPECT_EQ(posted.table().count(), model.receives.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraffic, testing::Range(1u, 13u));

TEST(UnexpectedQueue, WildcardsBehindALongQueueAreFiledOnce) {
  constexpr int kMessages = 20000;
  UnexpectedQueue unexpected;
  std::vector<Kept> kept(kMessages);
  for (int i = 0; i < kMessages; ++i) {
    kept[static_cast<std::size_t>(i)].key = {Key::place(2, i % 10), i};
    unexpected.add(kept[static_cast<std::size_t>(i)]);
  }
  for (int i = kMessages; i-- > 0;) {
    Message* message = unexpected.find({Key::place(2, MPI_ANY_SOURCE), i});
    ASSERT_EQ(message, &kept[static_cast<std::size_t>(i)]);
    unexpected.remove(*message);
  }
  EXPECT_TRUE(unexpected.empty());
  EXPECT_LT(unexpected.passed(), 3u * kMessages);
}

TEST(UnexpectedQueue, MessagesComeInOrderOfArrivalForAnyTag) {
  UnexpectedQueue unexpected;
  std::vector<Kept> kept(5);
  for (int i = 0; i < 5; ++i) {
    kept[static_cast<std::size_t>(i)].key = {Key::place(2, 1), 9 - i};
    unexpected.add(kept[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < 5; ++i) {
    Message* message = unexpected.find({Key::place(2, 1), MPI_ANY_TAG});
    ASSERT_EQ(message, &kept[static_cast<std::size_t>(i)]);
    unexpected.remove(*message);
  }
}

// What receives posted in shared memory have to know.
TEST(PostedQueue, TellsRivalsAndThoseAhead) {
  PostedQueue posted;
  std::vector<Entry> entries(6);
  const Key key = {Key::place(2, 1), 7};
  for (int i = 0; i < 4; ++i) {
    entries[static_cast<std::size_t>(i)].key = i == 1 ? Key{Key::place(2, 1), 8} : key;
    posted.post(entries[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(posted.table().ahead_of(entries[0], 64), 0u);
  EXPECT_EQ(posted.table().ahead_of(entries[3], 64), 2u);
  EXPECT_EQ(posted.table().ahead_of(entries[3], 1), 1u);
  int behind = 0;
  posted.table().each_behind(entries[0], [&](Entry& entry) {
    EXPECT_EQ(entry.key, key);
    ++behind;
  });
  EXPECT_EQ(behind, 2);
  posted.remove(entries[2]);
  EXPECT_EQ(posted.table().ahead_of(entries[3], 64), 1u);

  EXPECT_FALSE(posted.has_rival(key));
  entries[4].key = {Key::place(2, MPI_ANY_SOURCE), 9};
  posted.post(entries[4]);
  EXPECT_FALSE(posted.has_rival(key));
  for (const Key& rival : {Key{Key::place(2, MPI_ANY_SOURCE), 7}, Key{Key::place(2, 1), MPI_ANY_TAG},
                           Key{Key::place(2, MPI_ANY_SOURCE), MPI_ANY_TAG}}) {
    entries[5].key = rival;
    posted.post(entries[5]);
    EXPECT_TRUE(posted.has_rival(key));
    posted.remove(entries[5]);
    EXPECT_FALSE(posted.has_rival(key));
  }
}

}  // namespace
}  // namespace ashlar::match

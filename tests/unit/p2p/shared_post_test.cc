#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "framework/object/status_fields.h"
#include "tests/unit/p2p/faults.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

p2p::Config eager_to_post() {
  p2p::Config config;
  config.shared_post_min = 2000;
  config.shared_post_patience = 0;
  return config;
}

LoopOptions posting(unsigned seed) {
  LoopOptions options = faults(seed);
  options.posts = true;
  options.write_lasts = 0.4;
  options.write_fails = seed % 3 == 0 ? 0.1 : 0;
  return options;
}

class SharedPost : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SharedPost, testing::Range(1u, 13u));

constexpr std::size_t kRoom = 12000;

struct Posted {
  Request* request;
  std::vector<unsigned char> data;
  bool cancelling;
  int tag;
};

// Each side makes progress at times of its own; receives are cancelled in any state. Of each tag the messages are
// received in the order in which they were sent, by the receives that were not cancelled, in the order of these.
TEST_P(SharedPost, OrderHoldsWhateverIsCancelled) {
  World world(2, posting(GetParam()), eager_to_post());
  std::mt19937 random(GetParam());
  constexpr int kMessages = 300, kTags = 2;
  std::vector<std::vector<unsigned char>> out(kMessages);
  std::vector<Request*> sends(kMessages, nullptr);
  std::vector<Posted> posted;
  posted.reserve(5 * kMessages);
  int sent = 0, outstanding = 0, received = 0;
  std::vector<int> next(kTags, 0), tag_of(kMessages);
  for (int& tag : tag_of) tag = static_cast<int>(random() % kTags);
  std::size_t oldest = 0;
  const auto settle = [&] {
    for (; oldest < posted.size(); ++oldest) {
      Posted& p = posted[oldest];
      if (!p.request->complete()) break;
      MPI_Status status;
      ASSERT_TRUE(world.finish(p.request, &status).ok());
      --outstanding;
      if (cancelled_of(status)) {
        EXPECT_TRUE(p.cancelling);
        EXPECT_EQ(std::count(p.data.begin(), p.data.end(), 0xee), static_cast<std::ptrdiff_t>(kRoom));
        continue;
      }
      int& which = next[static_cast<std::size_t>(p.tag)];
      while (which < sent && tag_of[static_cast<std::size_t>(which)] != p.tag) ++which;
      ASSERT_LT(which, sent);
      ++received;
      const auto& expected = out[static_cast<std::size_t>(which++)];
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), p.data.begin())) << "message " << which - 1;
    }
  };
  for (int step = 0; step < 200000 && received < kMessages; ++step) {
    const unsigned what = static_cast<unsigned>(random() % 10);
    if (what < 2 && sent < kMessages) {
      auto& data = out[static_cast<std::size_t>(sent)];
      data.resize(random() % 3 ? 2000 + random() % 9000 : 1 + random() % 50);
      for (unsigned char& byte : data) byte = static_cast<unsigned char>(random() % 200);
      const auto send = random() % 4 ? p2p::isend : p2p::issend;
      ASSERT_TRUE(send(data.data(), static_cast<MPI_Count>(data.size()), bytes(), 1,
                       tag_of[static_cast<std::size_t>(sent)], world.comm(0), &sends[static_cast<std::size_t>(sent)])
                      .ok());
      ++sent;
    } else if (what < 5 && outstanding < 8) {
      // Towards the end only what is missing.
      const int tag = static_cast<int>(random() % kTags);
      const auto waiting = std::count_if(posted.begin() + static_cast<std::ptrdiff_t>(oldest), posted.end(),
                                         [tag](const Posted& p) { return p.tag == tag; });
      const auto missing =
          std::count(tag_of.begin() + std::min(next[static_cast<std::size_t>(tag)], kMessages), tag_of.end(), tag);
      if (waiting >= missing) {
        world.poll();
        settle();
        continue;
      }
      Posted& p = posted.emplace_back(Posted{nullptr, std::vector<unsigned char>(kRoom, 0xee), false, tag});
      ASSERT_TRUE(p2p::irecv(p.data.data(), kRoom, bytes(), 0, tag, world.comm(1), &p.request).ok());
      ++outstanding;
    } else if (what == 5 && oldest < posted.size() && random() % 3 == 0) {
      Posted& p = posted[oldest + random() % (posted.size() - oldest)];
      if (p.request->complete()) continue;
      p.cancelling = true;
      ASSERT_TRUE(p2p::cancel(p.request).ok());
    } else if (what < 9) {
      world[0].poll();
    } else {
      world[1].poll();
      settle();
    }
  }
  EXPECT_EQ(received, kMessages);
  for (; oldest < posted.size(); ++oldest) {
    static_cast<void>(p2p::cancel(posted[oldest].request));
    EXPECT_TRUE(world.finish(posted[oldest].request).ok());
  }
  for (Request* send : sends) EXPECT_TRUE(world.finish(send).ok());
  EXPECT_GT(world.network().writes + world.network().asked, 0u);
  EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
}

TEST(SharedPostedReceive, ArrivesWithoutARoundOfProgressAtTheReceiver) {
  LoopOptions options;
  options.posts = true;
  World world(2, options, eager_to_post());
  std::vector<unsigned char> out(50000, 3), in(50000, 0);
  Request *receive = nullptr, *send = nullptr;
  ASSERT_TRUE(p2p::irecv(in.data(), 50000, bytes(), 0, 4, world.comm(1), &receive).ok());
  ASSERT_TRUE(p2p::isend(out.data(), 50000, bytes(), 1, 4, world.comm(0), &send).ok());
  for (int i = 0; i < 1000 && !send->complete(); ++i) world[0].poll();
  EXPECT_TRUE(send->complete());
  EXPECT_EQ(in, out);
  EXPECT_FALSE(receive->complete());
  // A sender that has gone after that takes nothing with it.
  EXPECT_TRUE(world.finish(send).ok());
  MPI_Status status;
  EXPECT_TRUE(world.finish(receive, &status).ok());
  EXPECT_EQ(status.MPI_SOURCE, 0);
  EXPECT_EQ(status.MPI_TAG, 4);
}

TEST(SharedPostedReceive, FailsWithItsSenderInTheMiddle) {
  for (int pieces = 0; pieces < 4; ++pieces) {
    LoopOptions options;
    options.posts = true;
    options.get = false;
    options.write_lasts = pieces % 2;
    World world(2, options, eager_to_post());
    std::vector<unsigned char> out(50000, 3), in(50000, 0);
    Request *receive = nullptr, *send = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), 50000, bytes(), 0, 4, world.comm(1), &receive).ok());
    ASSERT_TRUE(p2p::isend(out.data(), 50000, bytes(), 1, 4, world.comm(0), &send).ok());
    for (int i = 0; i < pieces; ++i) world[0].poll();
    if (pieces > 1) world[1].poll();
    world.network().kill(0);
    for (int i = 0; i < 10; ++i) world[1].poll();
    EXPECT_EQ(world.finish(receive).mpi_class(), MPI_ERR_PROC_ABORTED);
  }
}

TEST(SharedPostedReceive, IsPostedOnlyWhereItsMessageIsCertain) {
  LoopOptions options;
  options.posts = true;
  World world(2, options, eager_to_post());
  std::vector<unsigned char> in(4 * 4000);
  std::vector<Request*> receives(4);
  const int sources[] = {0, MPI_ANY_SOURCE, 0, 0};
  const int tags[] = {1, 2, 2, 1};
  const std::size_t expected[] = {1, 1, 1, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(p2p::irecv(in.data() + 4000 * i, 4000, bytes(), sources[i], tags[i], world.comm(1), &receives[i]).ok());
    EXPECT_EQ(world.network().posts.size(), expected[i]) << i;
  }
  EXPECT_EQ(world.network().posts[1].what.before, 1u);
  for (Request* receive : receives) {
    ASSERT_TRUE(p2p::cancel(receive).ok());
    EXPECT_TRUE(world.finish(receive).ok());
  }
  for (const auto& post : world.network().posts) EXPECT_EQ(post.state, LoopNetwork::Post::kGone);
}

}  // namespace
}  // namespace ashlar::test

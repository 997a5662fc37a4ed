#include "mpiexec/link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "mpiexec/job_order.h"
#include "mpiexec/remote_node.h"
#include "mpiexec/tree.h"

namespace ashlar::mpiexec {
namespace {

struct Pair {
  Link left, right;
};
Pair make_pair_of_links() {
  int there[2], back[2];
  EXPECT_EQ(pipe2(there, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(back, O_CLOEXEC), 0);
  return {Link(Descriptor(back[0]), Descriptor(there[1])), Link(Descriptor(there[0]), Descriptor(back[1]))};
}

TEST(LinkTest, FramesArriveWholeAndInOrder) {
  Pair pair = make_pair_of_links();
  // More than a pipe holds, so that both ends have to wait for each other.
  constexpr unsigned kFrames = 300;
  for (unsigned i = 0; i < kFrames; ++i) pair.left.send(FrameKind::kInput, std::string(i * 17, static_cast<char>(i)));
  unsigned arrived = 0;
  while (arrived < kFrames) {
    ASSERT_TRUE(pair.left.flush());
    ASSERT_TRUE(pair.right.read_some());
    for (Frame frame; pair.right.take(&frame); ++arrived) {
      ASSERT_EQ(frame.kind, FrameKind::kInput);
      ASSERT_EQ(frame.body, std::string(arrived * 17, static_cast<char>(arrived)));
    }
  }
  EXPECT_EQ(pair.left.queued(), 0u);
  pair.left.close();
  EXPECT_FALSE(pair.right.read_some());
}

TEST(LinkTest, WhatComesBeforeTheFramesIsTakenByLines) {
  Pair pair = make_pair_of_links();
  pair.left.send_raw("Welcome\nno end of line\n" +
                     DaemonLine{.version = "1/8", .machine = "m", .host = "h", .cpus = 4}.text());
  pair.left.send(FrameKind::kFence, packed(std::uint32_t{7}));
  ASSERT_TRUE(pair.left.flush());
  ASSERT_TRUE(pair.right.read_some());
  DaemonLine line;
  std::string text;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pair.right.take_line(&text));
    EXPECT_FALSE(line.parse(text));
  }
  ASSERT_TRUE(pair.right.take_line(&text));
  ASSERT_TRUE(line.parse(text));
  EXPECT_EQ(line.version, "1/8");
  EXPECT_EQ(line.cpus, 4u);
  Frame frame;
  ASSERT_TRUE(pair.right.take(&frame));
  EXPECT_EQ(frame.kind, FrameKind::kFence);
}

TEST(LinkTest, BytesThatAreNoFrameBreakTheLink) {
  Pair pair = make_pair_of_links();
  pair.left.send_raw("this is a line that some program printed\n");
  pair.left.send(FrameKind::kBeat);
  ASSERT_TRUE(pair.left.flush());
  ASSERT_TRUE(pair.right.read_some());
  Frame frame;
  EXPECT_FALSE(pair.right.take(&frame));
  EXPECT_TRUE(pair.right.broken());
  EXPECT_EQ(pair.right.broken_words(),
            "bytes that are no message of mpiexec's, \"this is a line that some program printed\\n\"");
}

TEST(LinkTest, TheLineThatBreaksTheLinkIsToldWithoutTheFrameBehindIt) {
  // The head of a frame begins with its length: that of 56 bytes is printable, a "8".
  Pair pair = make_pair_of_links();
  pair.left.send_raw("Killed by signal 15.\n");
  pair.left.send(FrameKind::kOutput, std::string(56, 'x'));
  ASSERT_TRUE(pair.left.flush());
  ASSERT_TRUE(pair.right.read_some());
  Frame frame;
  EXPECT_FALSE(pair.right.take(&frame));
  EXPECT_EQ(pair.right.broken_words(), "bytes that are no message of mpiexec's, \"Killed by signal 15.\\n\"");
}

TEST(LinkTest, AllKindsOfFramesHaveWords) {
  for (auto kind = FrameKind::kOrder; kind <= FrameKind::kReply;
       kind = static_cast<FrameKind>(static_cast<int>(kind) + 1))
    EXPECT_EQ(frame_words(kind, 7).find("there is none"), std::string::npos) << static_cast<int>(kind);
  for (auto kind = FrameKind::kClock; kind <= FrameKind::kToAll;
       kind = static_cast<FrameKind>(static_cast<int>(kind) + 1))
    EXPECT_EQ(frame_words(kind, 7).find("there is none"), std::string::npos) << static_cast<int>(kind);
  for (auto kind = FrameKind::kClockBack; kind <= FrameKind::kAgentOver;
       kind = static_cast<FrameKind>(static_cast<int>(kind) + 1))
    EXPECT_EQ(frame_words(kind, 7).find("there is none"), std::string::npos) << static_cast<int>(kind);
  for (auto kind = FrameKind::kReady; kind <= FrameKind::kAsks;
       kind = static_cast<FrameKind>(static_cast<int>(kind) + 1))
    EXPECT_EQ(frame_words(kind, 7).find("there is none"), std::string::npos) << static_cast<int>(kind);
  EXPECT_EQ(frame_words(FrameKind::kRankEnded, 7), "a message of kind 70 (a rank's end; 7 bytes)");
  EXPECT_EQ(frame_words(static_cast<FrameKind>(99), 0), "a message of kind 99 (of which there is none; 0 bytes)");
}

/// What the links of a daemon have in common with a relay: bytes for the one behind go on as they are.
void relay(Link* from, FrameKind kind, Link* behind, std::uint32_t number) {
  for (Frame frame; from->take(&frame);) {
    ASSERT_EQ(frame.kind, kind);
    std::uint32_t whose = 0;
    Unpacker unpack(frame.body);
    ASSERT_TRUE(unpack(whose).good());
    ASSERT_EQ(whose, number);
    behind->feed(unpack.rest());
  }
}

// Of three hosts in a row, the first has pipes to here; a frame to the third is in one to the second in one to the
// first.
TEST(LinkTest, LinksLeadThroughLinks) {
  Pair pair = make_pair_of_links();
  Link second(pair.left, 2), third(second, 3);
  constexpr unsigned kFrames = 100;
  for (unsigned i = 0; i < kFrames; ++i) third.send(FrameKind::kInput, std::string(i * 5000, static_cast<char>(i)));
  EXPECT_EQ(third.wants_write(), -1) << "it is written with the first";
  EXPECT_TRUE(third.flush());
  EXPECT_EQ(third.queued(), 0u);
  EXPECT_TRUE(second.flush());
  Link at_second, at_third;
  unsigned arrived = 0;
  while (arrived < kFrames) {
    ASSERT_TRUE(pair.left.flush());
    ASSERT_TRUE(pair.right.read_some());
    relay(&pair.right, FrameKind::kDown, &at_second, 2);
    relay(&at_second, FrameKind::kDown, &at_third, 3);
    for (Frame frame; at_third.take(&frame); ++arrived)
      ASSERT_EQ(frame.body, std::string(arrived * 5000, static_cast<char>(arrived)));
  }
  second.close();
  third.send(FrameKind::kBeat);
  EXPECT_TRUE(third.flush());
  EXPECT_EQ(pair.left.queued(), 0u) << "the way is closed";
}

TEST(LinkTest, ATreeHasEachHostBehindOneBeforeIt) {
  for (const unsigned width : {1u, 2u, 16u, 100u}) {
    const Tree tree{.from = 5, .width = width};
    for (unsigned host = 0; host < 4; ++host) EXPECT_EQ(tree.above(host, 4), Tree::kNone) << "few hosts";
    constexpr unsigned kHosts = 4096;
    std::vector<unsigned> behind(kHosts), depth(kHosts);
    unsigned from_here = 0;
    for (unsigned host = 0; host < kHosts; ++host) {
      const unsigned above = tree.above(host, kHosts);
      from_here += above == Tree::kNone ? 1 : 0;
      if (above == Tree::kNone) continue;
      ASSERT_LT(above, host);
      ASSERT_LE(++behind[above], width);
      depth[host] = depth[above] + 1;
    }
    EXPECT_EQ(from_here, width);
    // All levels but the last one are full.
    unsigned reached = 0, deepest = 0;
    for (unsigned level = width; (reached += level) < kHosts; level *= width) ++deepest;
    EXPECT_EQ(depth.back(), deepest);
  }
  EXPECT_EQ(Tree{}.above(4000, 4096), Tree::kNone) << "0: never";
}

JobOrder order() {
  JobOrder out;
  Segment segment;
  segment.ranks = segment.asked = 3;
  segment.argv = {"program", "", "two words"};
  segment.env = {{"NAME", "VALUE"}};
  out.options.segments = {segment};
  out.options.stdin_rank = -1;
  out.settings.for_ranks = std::string("text\0with a zero", 16);
  out.nodes.hosts = {"a", "b"};
  out.nodes.node_of_rank = {0, 1, 1};
  out.environment = {"A=1"};
  out.name = "1.2";
  out.parent_port = "a port";
  out.taken = {2, 0};
  out.cookie = 0x1234567890abcdef;
  return out;
}

TEST(LinkTest, AJobTravels) {
  const std::string bytes = packed(order());
  JobOrder arrived;
  ASSERT_TRUE(Unpacker(bytes)(arrived).good());
  EXPECT_EQ(packed(arrived), bytes);
  EXPECT_EQ(arrived.options.segments[0].argv[2], "two words");
  EXPECT_EQ(arrived.options.stdin_rank, -1);
  EXPECT_EQ(arrived.settings.for_ranks.size(), 16u);
  EXPECT_EQ(arrived.nodes.ranks_of(1), 2u);
  EXPECT_EQ(arrived.name, "1.2");
  EXPECT_EQ(arrived.parent_port, "a port");
}

TEST(LinkTest, AJobWhoseRanksAreOnNoHostDoesNotFit) {
  JobOrder fits = order();
  EXPECT_TRUE(fits.fits());
  fits.nodes.node = 2;
  EXPECT_FALSE(fits.fits());
  fits = order();
  fits.nodes.node_of_rank = {0, 1, 2};
  EXPECT_FALSE(fits.fits());
  fits.nodes.node_of_rank = {0, 1};
  EXPECT_FALSE(fits.fits());
  fits = order();
  fits.taken.pop_back();
  EXPECT_FALSE(fits.fits());
}

TEST(LinkTest, WhatIsLeftOverIsSeen) {
  std::uint32_t number = 0;
  EXPECT_TRUE(Unpacker(packed(std::uint32_t{7}))(number).done());
  EXPECT_TRUE(Unpacker(packed(std::uint32_t{7}, true))(number).good());
  EXPECT_FALSE(Unpacker(packed(std::uint32_t{7}, true))(number).done());
}

TEST(LinkTest, EveryBeginningOfAJobIsNoJob) {
  const std::string bytes = packed(order());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    JobOrder arrived;
    ASSERT_FALSE(Unpacker(std::string_view(bytes).substr(0, length))(arrived).good()) << length;
  }
}

TEST(LinkTest, ALengthThatIsNotThereTakesNoMemory) {
  std::vector<std::string> texts;
  EXPECT_FALSE(Unpacker(packed(~std::uint64_t{0}))(texts).good());
  EXPECT_TRUE(texts.empty());
}

}  // namespace
}  // namespace ashlar::mpiexec

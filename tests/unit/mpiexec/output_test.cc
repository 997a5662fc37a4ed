#include "mpiexec/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>

namespace ashlar::mpiexec {
namespace {

std::string take(LineMerger& merger) {
  std::string out(merger.ready());
  merger.written(out.size());
  return out;
}

TEST(LineMerger, LinesStayWhole) {
  LineMerger m(2, {});
  m.add(0, "hel");
  m.add(1, "one\n");
  m.add(0, "lo\nnext");
  EXPECT_EQ(take(m), "one\nhello\n");
  m.add(0, "\n");
  EXPECT_EQ(take(m), "next\n");
}

TEST(LineMerger, AnUnfinishedLastLineComesOutUnchanged) {
  LineMerger m(1, {});
  m.add(0, "a\nb");
  m.end(0);
  EXPECT_EQ(take(m), "a\nb");
}

TEST(LineMerger, TextAfterAnothersUnfinishedLineStartsANewOne) {
  LineMerger m(2, {});
  m.add(0, "tail");
  m.end(0);
  m.add(1, "x\n");
  EXPECT_EQ(take(m), "tail\nx\n");
}

TEST(LineMerger, AFlushedQuestionGoesOnOnItsLine) {
  LineMerger m(2, {});
  m.add(0, "name? ");
  m.flush(0);
  m.add(0, "Ann\n");
  EXPECT_EQ(take(m), "name? Ann\n");
}

TEST(LineMerger, TagsStandAtTheBeginningOfEachLine) {
  LineMerger m(12, {.rank = true});
  m.add(11, "a\n\nb\nc");
  m.flush(11);
  m.add(11, "d\n");
  EXPECT_EQ(take(m), "[11] a\n[11] \n[11] b\n[11] cd\n");
}

TEST(LineMerger, TheTimeStandsBeforeTheRank) {
  setenv("TZ", "NST+03:30", 1);  // POSIX counts westwards
  tzset();
  const LineMerger::Clock noon = [] {
    return std::chrono::system_clock::time_point(std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}) +
           std::chrono::hours(12) + std::chrono::microseconds(42);
  };
  LineMerger timed(2, {.time = true}, noon), both(2, {.time = true, .rank = true}, noon);
  timed.add(1, "a\nb");
  timed.flush(1);
  timed.add(1, "c\n");
  EXPECT_EQ(take(timed), "2026-03-01T08:30:00.000042-03:30 a\n2026-03-01T08:30:00.000042-03:30 bc\n");
  both.add(1, "a\n");
  EXPECT_EQ(take(both), "2026-03-01T08:30:00.000042-03:30 [1] a\n");
  EXPECT_EQ(time_stamp(std::chrono::system_clock::time_point(std::chrono::microseconds(-1))),
            "1969-12-31T20:29:59.999999-03:30");
  setenv("TZ", "IST-05:30", 1);
  tzset();
  EXPECT_EQ(time_stamp(noon()), "2026-03-01T17:30:00.000042+05:30");
  unsetenv("TZ");
  tzset();
}

TEST(LineMerger, ZeroBytesAndBytesAboveAsciiPass) {
  LineMerger m(1, {});
  const std::string bytes("\0\xff\n\0", 4);
  m.add(0, bytes);
  m.end(0);
  EXPECT_EQ(take(m), bytes);
}

TEST(LineMerger, AVeryLongLineIsPassedOnInParts) {
  LineMerger m(1, {});
  const std::string block(1u << 20, 'x');
  std::size_t seen = 0;
  for (int i = 0; i < 20; ++i) {
    m.add(0, block);
    seen += take(m).size();
  }
  EXPECT_GE(seen, LineMerger::kLongestLine);
  m.end(0);
  EXPECT_EQ(seen + take(m).size(), 20u << 20);
}

TEST(LineMerger, NothingRemainsAfterDiscard) {
  LineMerger m(2, {});
  m.add(0, "a\nb");
  m.discard();
  EXPECT_EQ(m.queued(), 0u);
  EXPECT_FALSE(m.has_partial(0));
}

// Any cutting of the streams into pieces gives each rank's lines back, whole and in order.
TEST(LineMerger, RandomPieces) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    constexpr unsigned kRanks = 5;
    LineMerger m(kRanks, {});
    std::string streams[kRanks];
    for (unsigned r = 0; r < kRanks; ++r)
      for (unsigned i = 0; i < 50; ++i)
        streams[r] += std::to_string(r) + ":" + std::to_string(i) + std::string(random() % 40, '.') + "\n";
    std::size_t at[kRanks] = {};
    std::string out;
    for (bool more = true; more;) {
      more = false;
      const auto r = static_cast<unsigned>(random() % kRanks);
      const std::size_t n = std::min<std::size_t>(random() % 90, streams[r].size() - at[r]);
      m.add(r, std::string_view(streams[r]).substr(at[r], n));
      at[r] += n;
      const std::size_t some = std::min<std::size_t>(m.queued(), random() % 200);
      out += m.ready().substr(0, some);
      m.written(some);
      for (unsigned i = 0; i < kRanks; ++i) more |= at[i] < streams[i].size();
    }
    out += take(m);
    std::map<char, std::string> back;
    for (std::size_t begin = 0, end; begin < out.size(); begin = end + 1) {
      end = out.find('\n', begin);
      ASSERT_NE(end, std::string::npos);
      back[out[begin]] += out.substr(begin, end - begin + 1);
    }
    for (unsigned r = 0; r < kRanks; ++r) EXPECT_EQ(back[static_cast<char>('0' + r)], streams[r]) << "seed " << seed;
  }
}

TEST(OutputFd, WritesToAPipeWithoutBlockingAndWithoutChangingIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OutputFd out(ends[1]);
  const std::string much(1u << 20, 'x');
  const std::size_t written = out.write(much);
  EXPECT_GT(written, 0u);
  EXPECT_LT(written, much.size());
  EXPECT_FALSE(out.broken());
  EXPECT_EQ(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  out.write("y");
  EXPECT_TRUE(out.broken());
  close(ends[1]);
}

TEST(OutputFd, AClosedDescriptorIsBroken) {
  OutputFd out(987);
  EXPECT_TRUE(out.broken());
  EXPECT_EQ(out.write("x"), 0u);
}

}  // namespace
}  // namespace ashlar::mpiexec

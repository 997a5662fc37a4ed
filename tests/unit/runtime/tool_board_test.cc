// The memory of tools that ranks of a node share by themselves, here all in one process.
#include "framework/runtime/tool_board.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace ashlar::runtime {
namespace {

constexpr std::uint64_t kBytes = plugin::kToolPage + 65536;

/// A launcher with what its ranks have published.
struct Launcher {
  ashlar_launch head;
  std::map<std::string, std::vector<char>> published;

  static ashlar_result put(ashlar_launch* self, const char* key, const void* blob, std::size_t bytes) {
    const char* const from = static_cast<const char*>(blob);
    reinterpret_cast<Launcher*>(self)->published[key] = {from, from + bytes};
    return ASHLAR_OK;
  }
  static ashlar_result get(ashlar_launch* self, std::uint32_t, const char* key, void* to, std::size_t* bytes) {
    const auto& published = reinterpret_cast<Launcher*>(self)->published;
    const auto found = published.find(key);
    if (found == published.end()) return ASHLAR_LAUNCH_NOT_FOUND;
    *bytes = std::min(*bytes, found->second.size());
    std::memcpy(to, found->second.data(), *bytes);
    return ASHLAR_OK;
  }
};
constexpr ashlar_launch_ops kOps = [] {
  ashlar_launch_ops ops{};
  ops.size = sizeof ops;
  ops.put = Launcher::put;
  ops.get = Launcher::get;
  return ops;
}();

ashlar_job job_of(std::uint32_t rank, std::uint32_t ranks) {
  ashlar_job job{};
  job.size = sizeof job;
  job.cookie = 4711;
  job.rank = job.local_rank = rank;
  job.ranks = job.local_size = ranks;
  job.nodes = 1;
  return job;
}

void record(ToolBoard& board, const char* tool) {
  plugin::ToolMemory& own = *board.own();
  std::snprintf(own.rows[0].name, sizeof own.rows[0].name, "%s", tool);
  own.rows[0].offset = plugin::kToolPage;
  own.rows[0].bytes = 4096;
  own.count.store(1);
  std::memset(reinterpret_cast<char*>(&own) + plugin::kToolPage, tool[0], 4096);
}

class ToolBoardTest : public testing::Test {
 protected:
  Launcher launcher_{.head = {.ops = &kOps}, .published = {}};
  ashlar_launch* launch() { return &launcher_.head; }
};

TEST_F(ToolBoardTest, TheLastThatLeavesSeesTheRecordsOfAll) {
  ToolBoard board[3];
  for (std::uint32_t r = 0; r < 3; ++r) board[r].offer(job_of(r, 3), launch(), kBytes);
  for (std::uint32_t r = 0; r < 3; ++r) {
    const Status attached = board[r].attach(job_of(r, 3), launch(), kBytes);
    ASSERT_TRUE(attached.ok()) << attached.text();
    if (r != 1) record(board[r], r == 0 ? "a" : "c");
  }
  EXPECT_FALSE(board[0].leave());
  EXPECT_FALSE(board[2].leave());
  EXPECT_TRUE(board[1].leave());
  ASSERT_NE(board[1].of(0), nullptr);
  EXPECT_EQ(board[1].of(1), nullptr) << "it recorded nothing";
  EXPECT_EQ(board[1].of(3), nullptr);
  const plugin::ToolMemory& last = *board[1].of(2);
  ASSERT_NE(plugin::tool_row(last, board[1].bytes(), "c"), nullptr);
  EXPECT_EQ(plugin::tool_row(last, board[1].bytes(), "a"), nullptr);
  EXPECT_EQ(reinterpret_cast<const char*>(&last)[plugin::kToolPage + 4095], 'c');
}

TEST_F(ToolBoardTest, AJobOfOneRankHasItsOwn) {
  ToolBoard board;
  board.offer(job_of(0, 1), launch(), kBytes);
  EXPECT_TRUE(launcher_.published.empty());
  ASSERT_TRUE(board.attach(job_of(0, 1), launch(), kBytes).ok());
  record(board, "a");
  EXPECT_TRUE(board.leave());
  EXPECT_EQ(board.of(0), board.own());
}

TEST_F(ToolBoardTest, WhereTheOthersCannotBeReachedTheMemoryIsThisProcesss) {
  ToolBoard board;
  const Status attached = board.attach(job_of(1, 2), launch(), kBytes);
  EXPECT_THAT(attached.text(), testing::HasSubstr("rank 0 has made no memory for the tools"));
  ASSERT_NE(board.own(), nullptr);
  record(board, "a");
  EXPECT_FALSE(board.leave()) << "it would tell of itself alone";
}

TEST_F(ToolBoardTest, MemoryOfAnotherJobIsNotTaken) {
  ToolBoard first, other;
  first.offer(job_of(0, 2), launch(), kBytes);
  ashlar_job job = job_of(1, 2);
  job.cookie = 1;
  EXPECT_THAT(other.attach(job, launch(), kBytes).text(), testing::HasSubstr("is not the memory of this job's tools"));
  EXPECT_FALSE(other.leave());
}

TEST_F(ToolBoardTest, OurLaunchersMemoryNeedsNoBoard) {
  ToolBoard board;
  ashlar_job job = job_of(0, 2);
  char memory[1];
  job.tool_memory = memory;
  board.offer(job, launch(), kBytes);
  EXPECT_TRUE(launcher_.published.empty());
  EXPECT_EQ(board.own(), nullptr);
  EXPECT_FALSE(board.leave());
}

}  // namespace
}  // namespace ashlar::runtime

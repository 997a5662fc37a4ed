#include "mpiexec/waits_json.h"

#include <gmock/gmock.h>

namespace ashlar::mpiexec {
namespace {

using launch::RankState;
using testing::HasSubstr;
using testing::Not;

RankStatus status_of(const std::string& account) {
  RankStatus s;
  s.state = RankState::kInitialized;
  s.answered = true;
  s.account = plugin::Account::parse(account);
  return s;
}

std::string json(const std::vector<RankStatus>& ranks) {
  return waits_json(ranks, {.job_id = "1.2", .host = "node1", .launcher_pid = 7}, WaitsReason::kStall);
}

TEST(WaitsJson, BeginsWithWhatItIs) {
  EXPECT_THAT(
      json({RankStatus()}),
      testing::StartsWith(R"({"kind":"waits","form":1,"reason":"stall","job":"1.2","host":"node1","pid":7,"size":1,)"));
  EXPECT_EQ(json({RankStatus()}).back(), '\n');
}

TEST(WaitsJson, SetsOfRanksAreRanges) {
  std::vector<RankStatus> ranks(6, status_of("t 1\nc 0 2 0-5 in MPI_Barrier on 'w'\n"));
  ranks[4] = ranks[5] = ranks[2] = status_of("t 1\nw 0 in MPI_Recv\n");
  const std::string out = json(ranks);
  EXPECT_THAT(out, HasSubstr(R"("needs":"2,4-5")"));
  EXPECT_THAT(out,
              HasSubstr(R"("collectives":[{"text":"in MPI_Barrier on 'w'","context":0,"number":2,"ranks":"0-5"}])"));
  EXPECT_THAT(out, HasSubstr(R"("cycle":[0,2])"));
}

TEST(WaitsJson, StatesAreOneWordEach) {
  std::vector<RankStatus> ranks(9);
  ranks[1].state = RankState::kAttached;
  for (int r = 2; r < 7; ++r) ranks[static_cast<std::size_t>(r)].state = RankState::kInitialized;
  ranks[3] = status_of("t 1\nw 0 in MPI_Recv\n");
  ranks[4] = status_of("");
  ranks[5] = status_of("f\n");
  ranks[6] = ranks[3];
  ranks[6].progresses = true;
  ranks[7].state = RankState::kFinalized;
  ranks[8].ended = true;
  const std::string out = json(ranks);
  for (const char* const part :
       {R"("rank":0,"state":"absent")", R"("rank":1,"state":"starting")", R"("rank":2,"state":"outside")",
        R"("rank":3,"state":"waiting")", R"("rank":4,"state":"polling")", R"("rank":5,"state":"finalizing")",
        R"("rank":6,"state":"progressing")", R"("rank":7,"state":"left")", R"("rank":8,"state":"ended")"})
    EXPECT_THAT(out, HasSubstr(part));
}

TEST(WaitsJson, ForeignNamesStayText) {
  EXPECT_THAT(json({status_of("t 1\nw 7 in MPI_Recv on '\"\\\x01'\n")}), HasSubstr(R"(in MPI_Recv on '\"\\\u0001')"));
}

TEST(WaitsJson, WhatIsNotKnownIsLeftOut) {
  const std::string out = json({status_of("t 1\nw * in MPI_Recv\nw - for MPI_Ibarrier\n+ 3\n")});
  EXPECT_THAT(out, HasSubstr(R"("waits_for":[{"text":"in MPI_Recv"},{"text":"for MPI_Ibarrier"}],"left_out":3)"));
  for (const char* const member : {"needs", "cycle", "ends", "silent_s", "process", "newest_wait", "under_way"})
    EXPECT_THAT(out, Not(HasSubstr(std::string("\"") + member))) << member;
}

}  // namespace
}  // namespace ashlar::mpiexec

#include "mpiexec/verdict.h"

#include <gmock/gmock.h>
#include <signal.h>

namespace ashlar::mpiexec {
namespace {

using launch::RankState;
using testing::HasSubstr;
using testing::Not;

constexpr int exited(int code) { return code << 8; }

RankFate fate(RankState state, int wait_status) {
  RankFate f;
  f.pid = 4711;
  f.host = "node1";
  f.program = "./a.out";
  f.host = "node1";
  f.ended = true;
  f.state = state;
  f.wait_status = wait_status;
  f.seconds = 1.5;
  return f;
}

TEST(Verdict, EndsThatAreFine) {
  EXPECT_FALSE(fails_the_job(fate(RankState::kAbsent, exited(0)), true));
  EXPECT_FALSE(fails_the_job(fate(RankState::kFinalized, exited(0)), true));
  // It has said goodbye to the others; its exit code is its own affair.
  EXPECT_FALSE(fails_the_job(fate(RankState::kFinalized, exited(3)), true));
  EXPECT_FALSE(fails_the_job(fate(RankState::kAbsent, exited(3)), false));
}

TEST(Verdict, EndsThatFailTheJob) {
  EXPECT_TRUE(fails_the_job(fate(RankState::kInitialized, exited(0)), false));
  EXPECT_TRUE(fails_the_job(fate(RankState::kAbsent, SIGSEGV), false));
  EXPECT_TRUE(fails_the_job(fate(RankState::kFinalized, SIGSEGV), false));
  EXPECT_TRUE(fails_the_job(fate(RankState::kAbsent, exited(127)), true));
  RankFate aborted = fate(RankState::kInitialized, exited(0));
  aborted.aborted = true;
  EXPECT_TRUE(fails_the_job(aborted, false));
}

TEST(Verdict, ExitStatus) {
  EXPECT_EQ(exit_status(fate(RankState::kAbsent, exited(3))), 3);
  EXPECT_EQ(exit_status(fate(RankState::kAbsent, SIGSEGV)), 139);
  EXPECT_EQ(exit_status(fate(RankState::kInitialized, exited(0))), 1);
  EXPECT_EQ(exit_status(fate(RankState::kFinalized, exited(0))), 0);
  RankFate aborted = fate(RankState::kInitialized, SIGTERM);
  aborted.aborted = true;
  for (const auto& [code, status] : std::vector<std::pair<int, int>>{{42, 42}, {0, 0}, {256, 1}, {257, 1}, {-1, 255}}) {
    aborted.abort_code = code;
    EXPECT_EQ(exit_status(aborted), status) << code;
  }
}

TEST(Verdict, TheParagraphSaysWhoAndHow) {
  std::vector<RankFate> fates(4, fate(RankState::kInitialized, SIGTERM));
  for (RankFate& f : fates) f.stopped = true;
  fates[2] = fate(RankState::kInitialized, SIGSEGV);
  fates[2].failed = true;
  const std::string words = failure_words(fates, 2);
  EXPECT_THAT(words, HasSubstr("rank 2 of 4 (./a.out, process 4711 on node1) was killed by signal 11 (SIGSEGV"));
  EXPECT_THAT(words, HasSubstr("without calling MPI_Finalize, after 1.50 s"));
  EXPECT_THAT(words, HasSubstr("The other 3 ranks were stopped."));
}

TEST(Verdict, TheCallThatIsMissingIsNamed) {
  const auto words = [](RankState state, std::uint32_t use) {
    RankFate f = fate(state, exited(0));
    f.use = use;
    return failure_words({f}, 0);
  };
  using namespace launch;
  EXPECT_THAT(words(RankState::kInitialized, 0), HasSubstr("without calling MPI_Finalize,"));
  EXPECT_THAT(words(RankState::kInitialized, kInWorld | kHadWorld), HasSubstr("without calling MPI_Finalize,"));
  EXPECT_THAT(words(RankState::kInitialized, kInSessions | kHadSessions | kHadWorld),
              HasSubstr("without calling MPI_Session_finalize,"));
  EXPECT_THAT(words(RankState::kInitialized, kInSessions | kInWorld),
              HasSubstr("without calling MPI_Finalize and MPI_Session_finalize,"));
  EXPECT_THAT(words(RankState::kFinalized, kHadSessions), HasSubstr("after MPI_Session_finalize,"));
  EXPECT_THAT(words(RankState::kFinalized, kHadSessions | kHadWorld), HasSubstr("after MPI_Finalize,"));
}

TEST(Verdict, OthersThatFailedAreListedTogether) {
  std::vector<RankFate> fates(5, fate(RankState::kInitialized, SIGABRT));
  for (RankFate& f : fates) f.failed = true;
  fates[4] = fate(RankState::kFinalized, exited(0));
  const std::string words = failure_words(fates, 0);
  EXPECT_THAT(words, HasSubstr("Also failed: ranks 1-3 (each was killed by signal 6"));
  EXPECT_THAT(words, HasSubstr("1 other had ended by then."));
  EXPECT_THAT(words, Not(HasSubstr("stopped")));
}

TEST(Verdict, WhatARankReturnedIsToldInALine) {
  std::vector<RankFate> fates(4, fate(RankState::kFinalized, exited(0)));
  fates[2] = fate(RankState::kFinalized, exited(3));
  EXPECT_EQ(return_words(fates, 2),
            "rank 2 of 4 (./a.out, process 4711 on node1) ended with exit code 3, after MPI_Finalize.");
  fates[0] = fate(RankState::kFinalized, exited(5));
  fates[3] = fate(RankState::kFinalized, exited(3));
  EXPECT_THAT(return_words(fates, 2), HasSubstr(" Ranks 0 and 3 did not return 0 either."));
  fates[2] = fate(RankState::kAbsent, exited(3));
  EXPECT_THAT(return_words(fates, 2), HasSubstr("ended with exit code 3. Ranks"));
}

TEST(Verdict, OneOtherThatFailedIsNotEach) {
  std::vector<RankFate> fates(2, fate(RankState::kInitialized, SIGABRT));
  for (RankFate& f : fates) f.failed = true;
  EXPECT_THAT(failure_words(fates, 0), HasSubstr("Also failed: rank 1 (was killed by signal 6"));
}

TEST(Verdict, AnAbortQuotesItsText) {
  std::vector<RankFate> fates(1, fate(RankState::kInitialized, SIGTERM));
  fates[0].aborted = fates[0].failed = true;
  fates[0].abort_code = 7;
  fates[0].abort_text = "no convergence";
  EXPECT_THAT(failure_words(fates, 0), HasSubstr("aborted the job with code 7, after 1.50 s.\nIt said: no conv"));
}

TEST(Verdict, EqualErrorsOfManyRanksAreOneParagraph) {
  std::vector<RankFate> fates(1024, fate(RankState::kInitialized, SIGTERM));
  for (unsigned r = 0; r < fates.size(); ++r) {
    fates[r].aborted = fates[r].failed = true;
    fates[r].abort_code = 6;
    fates[r].abort_text = "argument dest is " + std::to_string(r + 1024) + ", but 'x' has ranks 0..1023";
  }
  fates[17].abort_text = "argument tag is -5";
  const std::string words = failure_words(fates, 3);
  EXPECT_THAT(words,
              HasSubstr("\n1,023 ranks (0-16 and 18-1023) said: argument dest is 1024-1040 and 1042-2047, but 'x' "
                        "has ranks 0..1023\nRank 17 said: argument tag is -5"));
  EXPECT_LT(words.size(), 500u);
}

TEST(Verdict, TheFirstRanksWordsComeFirst) {
  std::vector<RankFate> fates(3, fate(RankState::kInitialized, SIGTERM));
  for (RankFate& f : fates) f.aborted = f.failed = true;
  fates[0].abort_text = "later";
  fates[1].abort_text = "first";
  fates[2].abort_text = "later";
  EXPECT_THAT(failure_words(fates, 1), HasSubstr("\nIt said: first\nRanks 0 and 2 said: later"));
}

TEST(Verdict, ManyDifferentErrorsAreCounted) {
  std::vector<RankFate> fates(20, fate(RankState::kInitialized, SIGTERM));
  for (unsigned r = 0; r < fates.size(); ++r) {
    fates[r].aborted = fates[r].failed = true;
    fates[r].abort_text = std::string(r + 1, 'x');
  }
  EXPECT_THAT(failure_words(fates, 0), HasSubstr("\n12 more texts are left out."));
}

}  // namespace
}  // namespace ashlar::mpiexec

#include "mpiexec/waits.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>

#include "framework/base/clock.h"
#include "mpiexec/board.h"
#include "mpiexec/status_query.h"

namespace ashlar::mpiexec {
namespace {

using launch::RankState;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

RankStatus says(const std::string& account) {
  RankStatus s;
  s.state = RankState::kInitialized;
  s.answered = true;
  s.account = plugin::Account::parse(account);
  return s;
}
RankStatus silent(const std::string& process, double seconds = -1) {
  RankStatus s;
  s.state = RankState::kInitialized;
  s.process = process;
  s.silent_s = seconds;
  return s;
}
RankStatus in_state(RankState state) {
  RankStatus s;
  s.state = state;
  return s;
}

TEST(Waits, ACircleIsNamed) {
  EXPECT_EQ(waits_in_words({says("t 3\nw 1 in MPI_Recv from rank 1\n"), says("t 3\nw 2 in MPI_Recv from rank 2\n"),
                            says("t 3\nw 1 in MPI_Recv from rank 1\n")}),
            "ranks 0 and 2 wait in MPI_Recv from rank 1;\nrank 1 waits in MPI_Recv from rank 2:\na cycle 1 -> 2 -> 1.");
}

TEST(Waits, AChainHasAnEnd) {
  const std::string words =
      waits_in_words({says("t 3\nw 1 in MPI_Recv from rank 1\n"), says("t 3\nw 2 in MPI_Recv from rank 2\n"),
                      says("t 3\nw 3 in MPI_Recv from rank 3\n"), silent("computes", 12)});
  EXPECT_THAT(words, HasSubstr("rank 3 is not inside MPI: it computes and has not communicated for 12 s;"));
  EXPECT_THAT(words, EndsWith("in the end all wait for rank 3."));
}

TEST(Waits, SeveralThatDoTheSameAreToldOfInThePlural) {
  EXPECT_EQ(waits_in_words({silent("sleeps", 12), silent("sleeps", 12)}),
            "ranks 0-1 are not inside MPI: each sleeps and has not communicated for 12 s.");
  EXPECT_EQ(waits_in_words({silent("", 12), silent("", 12)}),
            "ranks 0-1 are not inside MPI: each has not communicated for 12 s.");
  EXPECT_EQ(waits_in_words({silent("", 12)}), "rank 0 is not inside MPI: it has not communicated for 12 s.");
}

TEST(Waits, OneOfSeveralIsEnough) {
  // MPI_Waitany on messages of both: neither is needed, so there is no circle.
  const std::string words = waits_in_words({says("t 3\nw 1 for MPI_Irecv from rank 1\nw 2 for MPI_Irecv from rank 2\n"),
                                            says("t 3\nw 0 in MPI_Recv from rank 0\n"), silent("")});
  EXPECT_THAT(words, HasSubstr("rank 0 waits for MPI_Irecv from rank 1; for MPI_Irecv from rank 2;"));
  EXPECT_THAT(words, Not(HasSubstr("cycle")));
  EXPECT_THAT(
      waits_in_words({says("t 3\nw * in MPI_Recv from any rank\n"), says("t 3\nw 0 in MPI_Recv from rank 0\n")}),
      Not(HasSubstr("cycle")));
}

TEST(Waits, CollectivesKnowWhoIsMissing) {
  const std::string barrier = "t 3\ns 0 5\nc 0 5 0-3 in MPI_Barrier on 'w'\n";
  // One has not come so far, one cannot tell, one is already behind it.
  const std::string words = waits_in_words({says(barrier), says("t 3\ns 0 4\nw 0 in MPI_Recv from rank 0\n"),
                                            silent("sleeps"), says("t 3\ns 0 5\nw 2 in MPI_Recv from rank 2\n")});
  EXPECT_THAT(
      words, HasSubstr("rank 0 waits in MPI_Barrier on 'w', which rank 1 has not entered and in which rank 2 is not;"));
  EXPECT_THAT(words, HasSubstr("a cycle 0 -> 1 -> 0."));
  // An earlier one of the same communicator.
  EXPECT_THAT(waits_in_words(
                  {says(barrier), says("t 3\ns 0 4\nc 0 4 0-3 in MPI_Bcast on 'w'\n"), says(barrier), says(barrier)}),
              HasSubstr("which rank 1 has not entered"));
}

TEST(Waits, CollectivesThatDoNotMatch) {
  const std::string words =
      waits_in_words({says("t 3\nc 0 5 0-1 in MPI_Barrier on 'w'\nw 1 for a collective from rank 1\n"),
                      says("t 3\nc 0 5 0-1 in MPI_Bcast on 'w'\n")});
  EXPECT_THAT(words,
              HasSubstr("rank 0 waits in MPI_Barrier on 'w', but rank 1 is in MPI_Bcast on 'w' instead: the calls do "
                        "not match;"));
}

TEST(Waits, OfARankThatComputesItsNewestWaitIsTold) {
  RankStatus s = silent("computes", 31);
  s.newest_wait_s = 61;
  EXPECT_EQ(waits_in_words({s}), "rank 0 is not inside MPI: it computes and has not communicated for 31 s.");
  s.newest_wait = plugin::Account::parse("t 3\nc 0 5 0-1 in MPI_Bcast on 'w'\nw 1 for a collective from rank 1\n");
  EXPECT_EQ(waits_in_words({s}),
            "rank 0 is not inside MPI: it computes and has not communicated for 31 s; it last waited 61 s ago, in "
            "MPI_Bcast on 'w'.");
  s.process.clear();
  s.silent_s = -1;
  s.newest_wait = plugin::Account::parse("t 3\nw 1 for MPI_Irecv from rank 1\n");
  EXPECT_EQ(waits_in_words({s}), "rank 0 is not inside MPI: it last waited 61 s ago, for MPI_Irecv from rank 1.");
}

TEST(Waits, WhenAllAreInACollectiveItsMessagesTell) {
  const std::string words =
      waits_in_words({says("t 3\nc 0 5 0-1 in MPI_Bcast on 'w'\nw 1 for a collective from rank 1\n"),
                      says("t 3\nc 0 5 0-1 in MPI_Bcast on 'w'\nw 0 for a collective from rank 0\n")});
  EXPECT_THAT(words, HasSubstr("a cycle 0 -> 1 -> 0."));
}

TEST(Waits, ANonblockingCollectiveIsKnownByItsMessages) {
  const std::string words =
      waits_in_words({says("t 3\nw - for MPI_Ibcast\np 1 a collective from rank 1\n"), silent("computes")});
  EXPECT_THAT(words, HasSubstr("rank 1 is not inside MPI: it computes."));
}

// Of ranks that answer one after the other, one may be in the next collective already.
TEST(Waits, WhoIsInTheNextCollectiveIsNotWaitedFor) {
  for (const char* const messages : {"", "w 1 for a collective from rank 1\n"}) {
    const std::string words =
        waits_in_words({says(std::string("t 3\nc 0 8 0-1 in MPI_Barrier on 'w'\n") + messages),
                        says("t 3\nc 0 9 0-1 in MPI_Barrier on 'w'\nw 0 for a collective from rank 0\n")});
    EXPECT_THAT(words, HasSubstr("rank 0 waits in MPI_Barrier on 'w';"));
    EXPECT_THAT(words, HasSubstr("rank 1 waits in MPI_Barrier on 'w', which rank 0 has not entered"));
    EXPECT_THAT(words, Not(HasSubstr("cycle")));
  }
}

// A rank may wait for several of one communicator that it has begun without blocking.
TEST(Waits, OneOfSeveralCollectivesIsTheSame) {
  const char* const both = "t 3\nc 0 8 0-1 in MPI_Ibarrier on 'w'\nc 0 9 0-1 in MPI_Ibarrier on 'w'\n";
  EXPECT_THAT(
      waits_in_words({says("t 3\nc 0 8 0-1 in MPI_Ibarrier on 'w'\n"), says(both)}),
      AllOf(HasSubstr("rank 0 waits in MPI_Ibarrier on 'w';"),
            HasSubstr("rank 1 waits in MPI_Ibarrier on 'w'; and in MPI_Ibarrier on 'w', which rank 0 has not")));
  EXPECT_THAT(waits_in_words({says("t 3\nc 0 7 0-1 in MPI_Ibarrier on 'w'\n"), says(both)}),
              HasSubstr("which rank 0 has not entered"));
}

// Answers of different moments may look like a circle that never was.
TEST(Waits, WhoGetsOnIsInNoCircle) {
  std::vector<RankStatus> ranks = {says("t 3\nw 1 in MPI_Recv from rank 1\n"),
                                   says("t 3\nw 0 in MPI_Recv from rank 0\n")};
  EXPECT_THAT(waits_in_words(ranks), EndsWith("a cycle 0 -> 1 -> 0."));
  ranks[1].progresses = true;
  EXPECT_EQ(waits_in_words(ranks),
            "rank 0 waits in MPI_Recv from rank 1;\nrank 1 gets on: now it waits in MPI_Recv from rank 0.");
}

TEST(Waits, StartAndEnd) {
  std::vector<RankStatus> ranks = {in_state(RankState::kAttached), in_state(RankState::kAbsent),
                                   in_state(RankState::kAttached)};
  ranks[0].fences = 1;
  EXPECT_EQ(waits_in_words(ranks),
            "rank 0 is inside MPI_Init, where ranks 1-2 are missing;\nrank 1 has not called MPI_Init;\n"
            "rank 2 is inside MPI_Init;\nin the end all wait for ranks 1-2.");
  EXPECT_THAT(
      waits_in_words({says("f\n"), in_state(RankState::kFinalized), silent("is stopped")}),
      HasSubstr("rank 0 waits in MPI_Finalize for rank 2;\nrank 1 has left MPI (MPI_Finalize is done);\nrank 2 is not "
                "inside MPI: it is stopped"));
  EXPECT_EQ(waits_in_words({in_state(RankState::kAbsent), in_state(RankState::kFinalized)}), "");
}

TEST(Waits, ALargeJobIsTalliedNotListed) {
  std::vector<RankStatus> ranks;
  for (int r = 0; r < 100; ++r)
    ranks.push_back(says("t 3\nw 99 in MPI_Recv from rank 99, my tag is " + std::to_string(r) + "\n"));
  ranks[99] = silent("sleeps");
  const std::string words = waits_in_words(ranks);
  EXPECT_THAT(words, HasSubstr("rank 99 is not inside MPI: it sleeps"));
  EXPECT_THAT(words, HasSubstr("and 84 more"));
  EXPECT_THAT(words, EndsWith("in the end all wait for rank 99."));
}

TEST(StatusQuery, WaitsForAnswersOnlyOfThoseInside) {
  BoardFacts facts;
  facts.job_id = "test";
  facts.ranks = facts.universe = 3;
  Board board;
  const Status made = board.make(facts);
  ASSERT_TRUE(made.ok()) << made.text();
  StatusQuery call(board.header());
  call.start();
  EXPECT_TRUE(call.finished());  // no rank has joined

  for (unsigned r = 0; r < 2; ++r) {
    board.slot(r).state.store(static_cast<std::uint32_t>(RankState::kInitialized));
    board.slot(r).pid.store(static_cast<std::uint32_t>(getpid()));
  }
  call.start();
  EXPECT_FALSE(call.finished());
  EXPECT_EQ(board.slot(0).news.load(), 2u);
  for (unsigned r = 0; r < 2; ++r) {
    launch::BoardSlot& slot = board.slot(r);
    const std::string page = "t 1\nw 1 in MPI_Recv\n";
    launch::account_text(board.header(), slot).write(page.data(), page.size());
    launch::wait_text(board.header(), slot).write("t 1\nw 1 in MPI_Probe\n", 20);
    slot.heard_ns.store(now_ns());
    slot.answered.store(slot.asked.load());
    EXPECT_EQ(call.finished(), r == 1);
  }
  const std::vector<RankStatus> statuses = call.statuses();
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_TRUE(statuses[0].answered);
  EXPECT_EQ(statuses[0].account.waits_for.at(0).text, "in MPI_Recv");
  EXPECT_FALSE(statuses[0].progresses);
  EXPECT_TRUE(statuses[0].newest_wait.waits_for.empty());
  EXPECT_EQ(statuses[2].state, RankState::kAbsent);
  // One that says nothing is waited for a while, and then no more.
  call.start();
  const std::uint64_t began = now_ns();
  while (!call.finished() && now_ns() - began < 20'000'000'000u) usleep(10'000);
  EXPECT_LT(now_ns() - began, 10'000'000'000u);
  const std::vector<RankStatus> later = call.statuses();
  EXPECT_FALSE(later[0].answered);
  EXPECT_EQ(later[0].newest_wait.waits_for.at(0).text, "in MPI_Probe");
  EXPECT_GT(later[0].newest_wait_s, 0);
}

TEST(Waits, OfRanksOnHostsThatAreNotKnownNothingIsSaid) {
  std::vector<RankStatus> ranks(3);
  ranks[0].elsewhere = true;
  for (unsigned r = 1; r < 3; ++r) {
    ranks[r].state = launch::RankState::kInitialized;
    ranks[r].answered = true;
    ranks[r].account.waits = true;
    ranks[r].account.collectives.push_back(
        {.context = 1, .number = 2, .ranks = {0, 1, 2}, .text = "in MPI_Barrier on 'MPI_COMM_WORLD'"});
  }
  EXPECT_EQ(waits_in_words(ranks),
            "rank 0 runs on another host, of which the job's mpiexec knows more;\n"
            "ranks 1-2 wait in MPI_Barrier on 'MPI_COMM_WORLD'.");
}

}  // namespace
}  // namespace ashlar::mpiexec

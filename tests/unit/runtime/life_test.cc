// The orders in which a program may begin and end MPI: the world model once, sessions as it likes.
#include "framework/runtime/life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

namespace ashlar::runtime {
namespace {

using testing::HasSubstr;

TEST(Life, TheWorldModelBeginsOnce) {
  Life life;
  EXPECT_EQ(life.world(), Life::World::kBefore);
  EXPECT_THAT(life.check_on().text(), HasSubstr("before MPI_Init"));
  ASSERT_TRUE(life.check_can_begin(MPI_THREAD_SERIALIZED).ok());
  life.world_began(MPI_THREAD_SERIALIZED);
  EXPECT_TRUE(life.check_on().ok());
  EXPECT_EQ(life.thread_level(), MPI_THREAD_SERIALIZED);
  EXPECT_THAT(life.check_can_begin(MPI_THREAD_SINGLE).text(), HasSubstr("is initialised already"));
}

TEST(Life, TheWorldModelDoesNotBeginAgain) {
  Life life;
  life.world_began(MPI_THREAD_SINGLE);
  life.world_ended();
  EXPECT_EQ(life.world(), Life::World::kOver);
  EXPECT_THAT(life.check_on().text(), HasSubstr("after MPI_Finalize"));
  const Status again = life.check_can_begin(MPI_THREAD_SINGLE);
  EXPECT_EQ(again.mpi_class(), MPI_ERR_OTHER);
  EXPECT_THAT(again.text(), HasSubstr("cannot be initialised again"));
}

TEST(Life, ThreadLevelsAreTheFourOfTheStandard) {
  const Life life;
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    EXPECT_TRUE(life.check_can_begin(level).ok()) << level;
  for (const int level : {MPI_THREAD_SINGLE - 1, MPI_THREAD_MULTIPLE + 1, 12345}) {
    const Status refused = life.check_can_begin(level);
    EXPECT_EQ(refused.mpi_class(), MPI_ERR_ARG);
    EXPECT_THAT(refused.text(), HasSubstr(std::to_string(level)));
  }
}

TEST(Life, SessionsComeAndGoBesideTheWorldModel) {
  Life life;
  EXPECT_EQ(life.next_session(), 1);
  EXPECT_EQ(life.session_opened(), 1);
  life.world_began(MPI_THREAD_SINGLE);
  EXPECT_EQ(life.next_session(), 2);
  EXPECT_EQ(life.session_opened(), 2);
  life.world_ended();
  EXPECT_EQ(life.open_sessions(), 2);
  EXPECT_EQ(life.session_closed(), 1);
  EXPECT_EQ(life.session_closed(), 0);
  // Numbers are not used again: records of an older session must not be taken for those of a new one.
  EXPECT_EQ(life.next_session(), 3);
  EXPECT_EQ(life.session_opened(), 1);
}

}  // namespace
}  // namespace ashlar::runtime

#include "framework/base/status.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace ashlar {
namespace {

TEST(Status, SuccessHasNoText) {
  const Status st;
  EXPECT_TRUE(st.ok());
  EXPECT_EQ(st.mpi_class(), 0);
  EXPECT_STREQ(st.text(), "");
}

TEST(Status, KeepsClassAndSentence) {
  const Status st = Status::fail(4, "tag %d is outside 0..%d", -7, 99);
  EXPECT_FALSE(st.ok());
  EXPECT_EQ(st.mpi_class(), 4);
  EXPECT_STREQ(st.text(), "tag -7 is outside 0..99");
}

TEST(Status, TextOfAnOlderFailureMayBePartOfANewOne) {
  Status st = Status::fail(1, "cause");
  for (int i = 0; i < 3 * Status::kRingSlots; ++i) st = Status::fail(2, "%d <- %.20s", i, st.text());
  EXPECT_EQ(std::string(st.text()).substr(0, 6), "95 <- ");
}

TEST(Status, OverwrittenTextIsEmptyButTheClassStays) {
  const Status old = Status::fail(3, "first");
  for (int i = 0; i < Status::kRingSlots; ++i) (void)Status::fail(1, "later").ok();
  EXPECT_EQ(old.mpi_class(), 3);
  EXPECT_STREQ(old.text(), "");
}

TEST(Status, TextBelongsToTheThreadThatFailed) {
  Status st;
  std::string there;
  std::thread([&] {
    st = Status::fail(5, "over there");
    there = st.text();
  }).join();
  EXPECT_EQ(there, "over there");
  EXPECT_EQ(st.mpi_class(), 5);
}

TEST(Status, LongTextIsCutNotOverrun) {
  const std::string longer(2 * Status::kTextBytes, 'x');
  const Status st = Status::fail(1, "%s", longer.c_str());
  EXPECT_EQ(std::string(st.text()).size(), static_cast<std::size_t>(Status::kTextBytes - 1));
}

Status passes_on(Status st) {
  ASHLAR_TRY(st);
  return Status::fail(99, "not reached when st failed");
}

TEST(Status, TryReturnsTheFirstFailure) {
  EXPECT_EQ(passes_on(Status::fail(7, "x")).mpi_class(), 7);
  EXPECT_EQ(passes_on({}).mpi_class(), 99);
}

}  // namespace
}  // namespace ashlar

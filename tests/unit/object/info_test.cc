#include "framework/object/info.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "framework/object/info_api.h"
#include "framework/object/predefined.h"

namespace ashlar {
namespace {

class InfoTest : public testing::Test {
 protected:
  void SetUp() override {
    register_predefined_objects();
    ASSERT_TRUE(info::create(&made).ok());
  }
  void TearDown() override {
    if (made) {
      ASSERT_TRUE(info::free(&made).ok());
    }
  }
  Info* made = nullptr;
};

TEST_F(InfoTest, KeepsOrderAndReplacesInPlace) {
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(info::set(made, key, "1").ok());
  ASSERT_TRUE(info::set(made, "b", "").ok()) << "an empty value is a value";
  int n = 0;
  ASSERT_TRUE(info::get_nkeys(made, &n).ok());
  EXPECT_EQ(n, 3);
  char key[MPI_MAX_INFO_KEY];
  ASSERT_TRUE(info::get_nthkey(made, 1, key).ok());
  EXPECT_STREQ(key, "b");
  int length = -1, flag = 0;
  ASSERT_TRUE(info::get_valuelen(made, "b", &length, &flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(length, 0);
}

TEST_F(InfoTest, GetStringCutsAndTellsTheLengthNeeded) {
  ASSERT_TRUE(info::set(made, "file", "results.dat").ok());
  char out[16] = "unchanged";
  int room = 5, flag = 0;
  ASSERT_TRUE(info::get_string(made, "file", &room, out, &flag).ok());
  EXPECT_STREQ(out, "resu");
  EXPECT_EQ(room, 12);
  room = 0;
  std::string untouched = "untouched";
  ASSERT_TRUE(info::get_string(made, "file", &room, untouched.data(), &flag).ok());
  EXPECT_EQ(untouched, "untouched");
  EXPECT_EQ(room, 12);
  room = 16;
  ASSERT_TRUE(info::get_string(made, "none", &room, out, &flag).ok());
  EXPECT_FALSE(flag);
  EXPECT_EQ(room, 16);
}

TEST_F(InfoTest, RefusesWhatTheStandardRefuses) {
  EXPECT_EQ(info::set(made, std::string(MPI_MAX_INFO_KEY, 'k').c_str(), "v").mpi_class(), MPI_ERR_INFO_KEY);
  EXPECT_EQ(info::set(made, "", "v").mpi_class(), MPI_ERR_INFO_KEY);
  EXPECT_EQ(info::set(made, "k", std::string(MPI_MAX_INFO_VAL, 'v').c_str()).mpi_class(), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(info::remove(made, "k").mpi_class(), MPI_ERR_INFO_NOKEY);
  EXPECT_EQ(info::set(nullptr, "k", "v").mpi_class(), MPI_ERR_INFO);
  EXPECT_EQ(info::set(&info::environment(), "k", "v").mpi_class(), MPI_ERR_INFO);
  char key[MPI_MAX_INFO_KEY];
  EXPECT_EQ(info::get_nthkey(made, 0, key).mpi_class(), MPI_ERR_ARG);
}

TEST_F(InfoTest, CopiesAreIndependent) {
  ASSERT_TRUE(info::set(made, "k", "1").ok());
  Info* copy = nullptr;
  ASSERT_TRUE(info::dup(made, &copy).ok());
  ASSERT_TRUE(info::set(copy, "k", "2").ok());
  EXPECT_EQ(*made->find("k"), "1");
  ASSERT_TRUE(info::free(&copy).ok());
  EXPECT_EQ(copy, nullptr);
}

}  // namespace
}  // namespace ashlar

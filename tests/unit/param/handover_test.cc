#include <gmock/gmock.h>

#include "tests/unit/param/rows.h"

namespace ashlar::param {
namespace {

using testing::HasSubstr;
using namespace testing_rows;

TEST(Handover, WhatTheLauncherMergedArrivesWithItsOrigins) {
  const char* environment[] = {"ASHLAR_transport_shm_folder=a\tb\\c\nd", "ASHLAR_p2p_mode=fast", nullptr};
  Sources sources;
  sources.environment = environment;
  sources.command_line = {{"p2p.mode", "safe", "--set p2p.mode=safe"}};
  Store launcher = store();
  ASSERT_TRUE(launcher.load(sources).ok());

  Store rank;  // declares nothing: an ordinary rank does not build the index
  ASSERT_TRUE(rank.adopt(launcher.serialize()).ok());
  Shm shm{};
  Room room{};
  ASSERT_TRUE(rank.fill("transport.shm", kShm, &shm).ok());
  ASSERT_TRUE(rank.fill("p2p", kRoom, &room).ok());
  EXPECT_STREQ(shm.folder, "a\tb\\c\nd");
  EXPECT_EQ(room.mode, 0);
  EXPECT_STREQ(rank.find("p2p.mode")->origin, "--set p2p.mode=safe");
  ASSERT_EQ(rank.settings("p2p.mode").size(), 2u);
  EXPECT_STREQ(rank.settings("p2p.mode")[1]->lost, "overridden by --set p2p.mode=safe");
  EXPECT_EQ(rank.serialize(), launcher.serialize());
}

TEST(Handover, VariablesOfOneRankTakeTheirPlace) {
  const char* launcher_environment[] = {"ASHLAR_p2p_mode=fast", nullptr};
  Sources sources;
  sources.environment = launcher_environment;
  sources.command_line = {{"p2p.copy_limit", "1M", "--set p2p.copy_limit=1M"}};
  Store launcher = store();
  ASSERT_TRUE(launcher.load(sources).ok());

  const char* rank_environment[] = {"ASHLAR_p2p_mode=safe", "ASHLAR_p2p_copy_limit=5M", nullptr};
  Store rank = store();
  ASSERT_TRUE(rank.adopt(launcher.serialize()).ok());
  rank.merge_environment(rank_environment);
  EXPECT_STREQ(rank.find("p2p.mode")->text, "safe");
  EXPECT_STREQ(rank.find("p2p.copy_limit")->text, "1M") << "the command line stays above the environment";
}

TEST(Handover, AnotherVersionIsRefusedWithAReason) {
  Store rank;
  EXPECT_THAT(rank.adopt("ashlar-params 9\nW0").text(), HasSubstr("different versions"));
  EXPECT_THAT(rank.adopt("").text(), HasSubstr("different versions"));
  EXPECT_THAT(rank.adopt("ashlar-params 1\nbroken\n").text(), HasSubstr("damaged"));
}

}  // namespace
}  // namespace ashlar::param

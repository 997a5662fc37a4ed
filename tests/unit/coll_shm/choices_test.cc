#include "components/coll/shm/choices.h"

#include <gtest/gtest.h>

#include "tests/unit/coll_shm/world.h"

namespace ashlar::coll::shm {
namespace {

constexpr ChoiceConfig kAllOn{.prefetch_from = 4096, .read_once = true, .poll_for_root = true, .yield_to_root = true};

TEST(Choices, ThoseOfSharedCoresAreForTheCentralFormAlone) {
  World flat(2, /*flat=*/true), central(2, /*flat=*/false);
  const Choices apart = Choices::of(kAllOn, flat[0]), sharing = Choices::of(kAllOn, central[0]);
  EXPECT_FALSE(flat[0].polls_for_writer);
  EXPECT_FALSE(apart.yield_to_root);
  EXPECT_TRUE(central[0].polls_for_writer);
  EXPECT_TRUE(sharing.yield_to_root);
  for (const Choices& choices : {apart, sharing}) {
    EXPECT_TRUE(choices.read_once);
    EXPECT_EQ(choices.prefetch_from, 4096);
  }
}

TEST(Choices, EachIsSwitchedOffByItsOwnParameter) {
  World world(2, /*flat=*/false);
  ChoiceConfig config = kAllOn;
  config.read_once = false;
  EXPECT_FALSE(Choices::of(config, world[0]).read_once);
  EXPECT_TRUE(world[0].polls_for_writer);
  config = kAllOn;
  config.poll_for_root = false;
  EXPECT_TRUE(Choices::of(config, world[0]).yield_to_root);
  EXPECT_FALSE(world[0].polls_for_writer);
  config = kAllOn;
  config.yield_to_root = false;
  EXPECT_FALSE(Choices::of(config, world[0]).yield_to_root);
}

}  // namespace
}  // namespace ashlar::coll::shm

#include "tests/unit/transport_common/sessions.h"

#include "tests/unit/transport_ofi/fixture.h"

// Over the provider that needs no card.
namespace ashlar::network::test {

INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, Sessions, testing::Types<ofi::test::Process>);

}  // namespace ashlar::network::test

namespace ashlar::ofi::test {
namespace {

TEST(Open, WhatIsNotThereIsNamed) {
  Config config = usual();
  config.provider = "no_such";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("ofi.no_provider provider=no_such"), std::string::npos) << last_failure;
  config = usual();
  config.domain = "no_such_device";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("another device is named"), std::string::npos) << last_failure;
}

}  // namespace
}  // namespace ashlar::ofi::test

#include "components/transport/tcp/address.h"

#include <gtest/gtest.h>

#include "tests/unit/transport_tcp/fixture.h"

namespace ashlar::tcp {
namespace {

Address with(std::size_t candidates) {
  Address address;
  address.nonce = 5;
  address.host = 6;
  address.port = 4711;
  for (std::size_t i = 0; i < 32; ++i) address.secret[i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < candidates; ++i)
    address.candidates.push_back(
        {.family = 4, .reach = 0, .prefix = 24, .card = 1, .bytes = {10, 0, 0, static_cast<std::uint8_t>(i)}});
  return address;
}

TEST(Record, ComesBackAsItWasWritten) {
  for (const std::size_t count : {1ul, 3ul, 200ul}) {
    const Address address = with(count);
    std::vector<char> bytes(16 << 10);
    const std::uint32_t length = write(address, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    Address back;
    ASSERT_EQ(parse(test::host(), 1, bytes.data(), length, &back), ASHLAR_OK) << test::last_failure;
    EXPECT_EQ(back.nonce, address.nonce);
    EXPECT_EQ(back.port, address.port);
    EXPECT_EQ(back.secret, address.secret);
    ASSERT_EQ(back.candidates.size(), count);
    EXPECT_EQ(back.candidates.back().bytes[3], count - 1);
  }
}

TEST(Record, HoldsTheBestAddressesWhereThereIsLittleRoom) {
  std::vector<char> bytes(512);
  const std::uint32_t length = write(with(200), bytes.data(), 512);
  EXPECT_LE(length, 512u);
  Address back;
  ASSERT_EQ(parse(test::host(), 1, bytes.data(), length, &back), ASHLAR_OK);
  EXPECT_EQ(back.candidates.size(), (512 - 72) / 20u);
  EXPECT_EQ(back.candidates.front().bytes[3], 0);
  EXPECT_EQ(write(with(1), bytes.data(), 80), 0u) << "there is no room for one";
}

}  // namespace
}  // namespace ashlar::tcp

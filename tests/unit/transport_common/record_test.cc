#include "components/transport/common/record.h"

#include "tests/unit/transport_common/fixture.h"

namespace ashlar::network {
namespace {

Record with(std::size_t address_bytes) {
  Record record;
  record.nonce = 7;
  record.secret[3] = 9;
  record.alive = {.family = 4, .port = 4711, .scope = 0, .bytes = {10, 0, 0, 1}};
  record.frame_bytes = 4096;
  record.name = "tcp;ofi_rxm";
  record.address.assign(address_bytes, 0x5a);
  return record;
}

TEST(Record, HasAddressesOfAnySize) {
  for (const std::size_t bytes : {0ul, 16ul, 28ul, 2000ul}) {
    std::vector<char> room(16 << 10);
    const std::uint32_t length = write(with(bytes), room.data(), static_cast<std::uint32_t>(room.size()));
    Record back;
    ASSERT_EQ(parse(test::host(), 1, room.data(), length, &back), ASHLAR_OK) << test::last_failure;
    EXPECT_EQ(back.nonce, 7u);
    EXPECT_EQ(back.secret[3], 9);
    EXPECT_EQ(back.alive.port, 4711);
    EXPECT_EQ(back.frame_bytes, 4096u);
    EXPECT_EQ(back.name, "tcp;ofi_rxm");
    EXPECT_EQ(back.address, std::vector<std::uint8_t>(bytes, 0x5a));
    EXPECT_EQ(write(with(bytes), room.data(), length - 1), 0u) << "there is no room for it";
  }
}

TEST(Record, DamageIsRefused) {
  std::vector<char> good(1000);
  good.resize(write(with(28), good.data(), 1000));
  Record back;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<char> bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    EXPECT_LT(parse(test::host(), 1, bad.data(), static_cast<std::uint32_t>(bad.size()), &back), 0) << i;
  }
}

TEST(Keys, DependOnSecretAndEveryByte) {
  Secret secret = {}, other = {};
  other[31] = 1;
  const std::vector<std::uint8_t> hello(100, 1);
  std::vector<std::uint8_t> changed = hello;
  changed[99] = 2;
  const SessionKeys keys = keys_of(secret, hello);
  EXPECT_EQ(keys.token, keys_of(secret, hello).token);
  EXPECT_FALSE(same(keys.proof, keys.answer)) << "no side can give the other's proof back";
  EXPECT_FALSE(same(keys.proof, keys_of(other, hello).proof));
  EXPECT_FALSE(same(keys.proof, keys_of(secret, changed).proof));
  EXPECT_NE(keys.token, keys_of(secret, changed).token);
}

}  // namespace
}  // namespace ashlar::network

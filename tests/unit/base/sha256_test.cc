#include "framework/base/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

std::string sha256(const std::string& text, std::size_t piece) {
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += piece) hash.add(text.data() + at, std::min(piece, text.size() - at));
  return hex(hash.end());
}

// The examples of FIPS 180-4 and NIST's test vectors.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const std::size_t piece : {1ul, 7ul, 55ul, 56ul, 100ul})
    EXPECT_EQ(sha256(two_blocks, piece), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a'), 999), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

std::string mac(const std::vector<std::uint8_t>& key, const std::string& data) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  const std::size_t half = data.size() / 2;
  return hex(hmac(key, {{bytes, half}, {bytes + half, data.size() - half}}));
}

// RFC 4231, cases 1, 2, 3, 6.
TEST(Hmac, KnownCodes) {
  EXPECT_EQ(mac(std::vector<std::uint8_t>(20, 0x0b), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(mac({'J', 'e', 'f', 'e'}, "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(mac(std::vector<std::uint8_t>(20, 0xaa), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(mac(std::vector<std::uint8_t>(131, 0xaa), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, EveryBitCounts) {
  Digest a = {}, b = {};
  EXPECT_TRUE(same(a, b));
  for (std::size_t i = 0; i < 256; ++i) {
    b[i / 8] = static_cast<std::uint8_t>(1u << i % 8);
    EXPECT_FALSE(same(a, b));
    b[i / 8] = 0;
  }
}

}  // namespace
}  // namespace ashlar

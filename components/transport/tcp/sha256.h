#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ashlar::tcp {

using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4). Set-up path: a connection hashes some hundred bytes.
class Sha256 {
 public:
  void add(const void* data, std::size_t bytes);
  /// Ends the message; nothing may be added afterwards.
  Digest end();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> waiting_ = {};
  std::uint64_t length_ = 0;
};

/// HMAC with SHA-256 (RFC 2104) over the parts one after the other.
Digest hmac(std::span<const std::uint8_t> key, std::initializer_list<std::span<const std::uint8_t>> parts);

/// Compares in a time that does not depend on the content.
bool same(const Digest& a, const Digest& b);

}  // namespace ashlar::tcp

#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar {

/// 64-bit FNV-1a: the same on every host and in every build, so ranks may compare its values. For texts and settings
/// that users or components write; it does not resist a person who looks for collisions. G. Fowler, L. Noll, K.-P. Vo,
/// D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm".
class Hash {
 public:
  constexpr void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  constexpr void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  /// The lowest byte first, whatever the order in memory.
  constexpr void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) add_byte(static_cast<std::uint8_t>(word));
  }
  constexpr std::uint64_t value() const { return value_; }

  static constexpr std::uint64_t of(std::string_view text) {
    Hash hash;
    hash.add(text);
    return hash.value();
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace ashlar

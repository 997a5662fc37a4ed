#pragma once
#include <cstdint>

namespace ashlar::datatype {

/// IEEE 754 binary16, computed in float: not every compiler of ours has the type. Rounds to nearest even.
/// Always inlined: sources compiled for different instruction sets include this.
struct Half {
  std::uint16_t bits;

  [[gnu::always_inline]] float value() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t rest = bits & 0x7fffu;
    union {
      std::uint32_t u;
      float f;
    } r;
    if (rest >= 0x7c00u) {  // infinity, not-a-number
      r.u = sign | 0x7f800000u | (rest & 0x3ffu) << 13;
    } else if (rest >= 0x400u) {
      r.u = sign | ((rest << 13) + ((127u - 15u) << 23));
    } else {  // zero, subnormal: an exact multiple of 2^-24
      r.f = static_cast<float>(rest) * 0x1p-24f;
      r.u |= sign;
    }
    return r.f;
  }

  [[gnu::always_inline]] static Half from(float value) {
    union {
      float f;
      std::uint32_t u;
    } v{value};
    const auto sign = static_cast<std::uint16_t>(v.u >> 16 & 0x8000u);
    const std::uint32_t rest = v.u & 0x7fffffffu;
    if (rest > 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7e00u)};
    if (rest >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // rounds to 2^16 or more
    if (rest >= 0x38800000u) {
      const std::uint32_t rounded = rest + 0xfffu + (rest >> 13 & 1u);
      return {static_cast<std::uint16_t>(sign | ((rounded - ((127u - 15u) << 23)) >> 13))};
    }
    // Subnormal: adding 0.5 shifts the value so that the float's own rounding does ours.
    v.u = rest;
    v.f += 0.5f;
    return {static_cast<std::uint16_t>(sign | (v.u - 0x3f000000u))};
  }
};

}  // namespace ashlar::datatype

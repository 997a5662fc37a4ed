#pragma once
#include <cstdint>
#include <string>

namespace ashlar {

/// The shortest spelling without a fraction, as parameters take it: "16KiB", "1000", "0".
inline std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; unit < 4 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + kUnits[unit];
}

}  // namespace ashlar

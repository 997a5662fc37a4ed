#pragma once
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::io::uring {

/// Which accesses of many pieces go through a ring.
enum class Use : std::int32_t {
  kAuto,  // reads of files that are not in memory
  kAlways,
  kNever
};

struct Config {
  std::int32_t use = 0;  // a Use
  std::uint64_t pieces = 0;
  std::uint64_t rings = 0;
  std::uint64_t entries = 0;
};

inline constexpr std::uint32_t kParamCount = 4;
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::io::uring

#pragma once
#include <cstdint>
#include <span>

#include "framework/plugin/component.h"

namespace ashlar::runtime {

extern const char* const kLogLevels[];

/// Parameters runtime.*; the rows describe this block.
struct Config {
  std::uint64_t start_timeout = 0;  // ns
  const char* explain = "";
  std::int32_t log_level = 0;
};

std::span<const ashlar_param> parameters();

}  // namespace ashlar::runtime

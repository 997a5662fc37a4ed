#pragma once
#include <cstdint>
#include <span>

#include "framework/plugin/component.h"

namespace ashlar::runtime {

/// Parameters runtime.*; the rows describe this block.
struct Config {
  std::uint64_t start_timeout = 0;  // ns
};

std::span<const ashlar_param> parameters();

}  // namespace ashlar::runtime

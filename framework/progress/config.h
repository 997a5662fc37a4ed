#pragma once
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::progress {

/// Parameters progress.*; the rows in params.h describe this block.
struct Config {
  std::uint64_t spin = 2000;  // empty rounds before the first yield
  std::uint64_t spin_oversubscribed = 0;
  std::uint64_t sleep_after = 1'000'000;  // ns of waiting
  std::uint64_t sleep_after_oversubscribed = 100'000;
  std::uint64_t long_yield = 200'000;  // ns
  std::uint64_t long_yield_oversubscribed = 1'500'000;
  std::uint64_t yield_retry = 50'000'000;
  std::uint64_t yield_retry_oversubscribed = 2'000'000;
  std::uint64_t yield_retry_most = 50'000'000;
  bool thread = false;          // background progress
  bool dormant = false;         // not a parameter: that thread sleeps until another process asks for progress
  bool oversubscribed = false;  // not a parameter: the job tells (more ranks than cores)
};

}  // namespace ashlar::progress

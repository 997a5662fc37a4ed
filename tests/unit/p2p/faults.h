#pragma once
#include <random>

#include "tests/unit/p2p/loop_transport.h"

namespace ashlar::test {

/// A transport whose faults depend on the seed: none for the first seed, then another mixture for each.
inline LoopOptions faults(unsigned seed) {
  LoopOptions options;
  options.seed = seed;
  if (seed <= 1) return options;
  std::mt19937 random(seed);
  const auto often = [&random](double most) {
    return random() % 2 ? most * static_cast<double>(random() % 100) / 100 : 0;
  };
  options.again = often(0.6);
  options.delay = often(0.5);
  options.room = 3 + random() % 60;
  options.get = random() % 4 != 0;
  options.get_pending = often(0.8);
  options.get_fails = often(0.5);
  options.proves_get_late = random() % 8 == 0;
  return options;
}

}  // namespace ashlar::test

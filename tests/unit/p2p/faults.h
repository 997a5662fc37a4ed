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

/// The same with remote operations: puts, gets of several pieces, atomic operations. None fails by itself.
inline LoopOptions remote_faults(unsigned seed) {
  LoopOptions options = faults(seed);
  options.get = options.put = options.amo = true;
  options.get_fails = 0;  // failures have tests of their own
  options.proves_get_late = false;
  std::mt19937 random(seed + 1000);
  const auto often = [&random] { return random() % 3 == 0 ? 0.0 : static_cast<double>(random() % 90) / 100; };
  options.put_completion = seed % 2 == 0 ? ASHLAR_PUT_AT_DONE : ASHLAR_PUT_AT_FLUSH;
  options.flush = options.put_completion == ASHLAR_PUT_AT_FLUSH || random() % 2 == 0;
  options.put_pending = often();
  options.pieces_most = seed % 3 == 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 40);
  return options;
}

}  // namespace ashlar::test

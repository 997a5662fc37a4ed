#pragma once
#include "framework/base/sanitizers.h"

/// How many ranks the tests of this folder have. Under a sanitizer a message costs ten times as much, and the same
/// tests run with fewer ranks: what a sanitizer finds is found among hundreds as among thousands. So is what is found
/// where ranks meet between any two atomic instructions (rma/steps.cc).
namespace ashlar::sim {

#if defined(ASHLAR_SIM_STEPS)
constexpr int kEverySize = 34;  // tests of every size end here: two beyond a power of two
constexpr int kShrink = 16;     // tests at scale have this part of their ranks
#elif defined(ASHLAR_ASAN) || defined(ASHLAR_TSAN)
constexpr int kEverySize = 34;
constexpr int kShrink = 4;
#else
constexpr int kEverySize = 64;
constexpr int kShrink = 1;
#endif

constexpr int at_scale(int ranks) { return ranks / kShrink; }

}  // namespace ashlar::sim

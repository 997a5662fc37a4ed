#include "framework/datatype/repeat.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "framework/base/sanitizers.h"

namespace ashlar::datatype::detail {

constinit std::atomic<int> repeats{0};

int find_out_repeats() {
  int answer = -1;
#if defined(__x86_64__) && !defined(ASHLAR_ASAN) && !defined(ASHLAR_TSAN)
  // "Enhanced rep movsb". Others than Intel have the flag too, but are slow for some alignments.
  constexpr unsigned kEnhanced = 1u << 9;
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool intel = __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_INTEL_ebx && d == signature_INTEL_edx &&
                     c == signature_INTEL_ecx;
  if (intel && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kEnhanced) != 0) answer = 1;
#endif
  repeats.store(answer, std::memory_order_relaxed);
  return answer;
}

}  // namespace ashlar::datatype::detail

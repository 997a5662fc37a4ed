#include "sentinels.h"

/* As large as the blocks and variables of a program, and aligned as much as any compiler aligns them: the linker of a
 * program puts one of them in the place of these. */
#define F_DEFINE_SENTINEL(lower, UPPER, type, n) \
  type F_MODULE(lower)[n] __attribute__((aligned(64))), F_COMMON(lower, UPPER)[n] __attribute__((aligned(64)));
F_SENTINELS(F_DEFINE_SENTINEL)
f_int F_MODULE(status_ignore08)[8] __attribute__((aligned(64))),
    F_MODULE(statuses_ignore08)[8] __attribute__((aligned(64)));

uintptr_t f_lowest = 0, f_reach = UINTPTR_MAX;

static void widen(uintptr_t* low, uintptr_t* high, const void* address) {
  if ((uintptr_t)address < *low) *low = (uintptr_t)address;
  if ((uintptr_t)address > *high) *high = (uintptr_t)address;
}

/* The dynamic linker says where they are; nothing changes that while the library is there. */
__attribute__((constructor)) static void find_sentinels(void) {
  uintptr_t low = UINTPTR_MAX, high = 0;
#define F_WIDEN(lower, UPPER, type, n) \
  widen(&low, &high, F_MODULE(lower)); \
  widen(&low, &high, F_COMMON(lower, UPPER));
  F_SENTINELS(F_WIDEN)
  widen(&low, &high, F_MODULE(status_ignore08));
  widen(&low, &high, F_MODULE(statuses_ignore08));
  f_reach = high + 1 - low;
  f_lowest = low;
}

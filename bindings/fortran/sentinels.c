#include "sentinels.h"

/* As large as the blocks and variables of a program, and aligned as much as any compiler aligns them: the linker of a
 * program puts one of them in the place of these. */
#define F_DEFINE_SENTINEL(lower, UPPER, type, n)                 \
  type F_COMMON(lower, UPPER)[n] __attribute__((aligned(64)));   \
  F_INTERNAL_ALIAS(f_memory_of_##lower, F_COMMON(lower, UPPER)); \
  const void* const F_OWN(lower) = f_memory_of_##lower;
F_SENTINELS(F_DEFINE_SENTINEL)
f_int F_STATUS08(status_ignore08)[8] __attribute__((aligned(64))),
    F_STATUS08(statuses_ignore08)[8] __attribute__((aligned(64)));

struct f_range f_buffers = {0, UINTPTR_MAX};

/* The dynamic linker says where they are, in a program's memory those that it names; nothing changes that while the
 * library is there. */
__attribute__((constructor)) static void find_sentinels(void) {
  const void* const buffers[] = {F_OWN(bottom), F_COMMON(bottom, BOTTOM), F_OWN(in_place),
                                 F_COMMON(in_place, IN_PLACE)};
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (int i = 0; i < 4; ++i) {
    if ((uintptr_t)buffers[i] < low) low = (uintptr_t)buffers[i];
    if ((uintptr_t)buffers[i] > high) high = (uintptr_t)buffers[i];
  }
  f_buffers = (struct f_range){low, high + 1 - low};
}

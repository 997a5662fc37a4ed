#include "sentinels.h"

/* As large as the blocks and variables of a program, and aligned as much as any compiler aligns them: the linker of a
 * program puts one of them in the place of these. */
#define F_DEFINE_SENTINEL(lower, UPPER, type, n) \
  type F_MODULE(lower)[n] __attribute__((aligned(64))), F_COMMON(lower, UPPER)[n] __attribute__((aligned(64)));
F_SENTINELS(F_DEFINE_SENTINEL)
f_int F_MODULE(status_ignore08)[8] __attribute__((aligned(64))),
    F_MODULE(statuses_ignore08)[8] __attribute__((aligned(64)));

struct f_range f_buffers = {0, UINTPTR_MAX}, f_statuses = {0, UINTPTR_MAX};

static struct f_range around(void* const* addresses, int n) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (int i = 0; i < n; ++i) {
    if ((uintptr_t)addresses[i] < low) low = (uintptr_t)addresses[i];
    if ((uintptr_t)addresses[i] > high) high = (uintptr_t)addresses[i];
  }
  return (struct f_range){low, high + 1 - low};
}

/* The dynamic linker says where they are; nothing changes that while the library is there. */
__attribute__((constructor)) static void find_sentinels(void) {
  void* const buffers[] = {F_MODULE(bottom), F_COMMON(bottom, BOTTOM), F_MODULE(in_place),
                           F_COMMON(in_place, IN_PLACE)};
  void* const statuses[] = {F_MODULE(status_ignore), F_COMMON(status_ignore, STATUS_IGNORE), F_MODULE(status_ignore08)};
  f_buffers = around(buffers, 4);
  f_statuses = around(statuses, 3);
}

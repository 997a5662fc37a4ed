#include "sentinels.h"

/* As large as the blocks and variables of a program, and aligned as much as any compiler aligns them: the linker of a
 * program puts one of them in the place of these. */
#define F_DEFINE_SENTINEL(lower, UPPER, type, n) \
  type F_MODULE(lower)[n] __attribute__((aligned(64))), F_COMMON(lower, UPPER)[n] __attribute__((aligned(64)));
F_SENTINELS(F_DEFINE_SENTINEL)
f_int F_MODULE(status_ignore08)[8] __attribute__((aligned(64))),
    F_MODULE(statuses_ignore08)[8] __attribute__((aligned(64)));

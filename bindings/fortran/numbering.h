#ifndef ASHLAR_FORTRAN_NUMBERING_H
#define ASHLAR_FORTRAN_NUMBERING_H
/* How handles that are not predefined become INTEGERs: as MPI_Request_toint and its kin say. A request is converted in
 * nearly every call that names it, and a program that works with a communicator of its own converts that one in every
 * call. So where the library below says its rule (Ashlar MPI, in MPI_Abi_get_info), the rule is followed here: handles
 * lie F_STEP bytes apart, in the order of their numbers. Every other library is asked for each handle. */
#include <limits.h>
#include <stdatomic.h>

#include "names.h"

#define F_PREDEFINED 4096 /* a predefined handle is its number in the standard ABI */
#define F_STEP 64

#if ASHLAR_F_INT == 8
typedef uint64_t f_number_bits;
#else
typedef uint32_t f_number_bits;
#endif

#pragma GCC visibility push(hidden)
/* Where a handle with the number 0 would lie, and the number above which handles go by the rule: F_PREDEFINED - 1.
 * Until the first handle that is not predefined is converted, and for good where there is no such rule, no number is
 * above, and the place is so far from every address that no handle is near it. */
extern struct f_numbering {
  uintptr_t zero;
  _Atomic(f_int) above; /* set after `zero` */
} f_numbering;
#define F_NOWHERE ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))
#define F_NONE_ABOVE INT_MAX /* the largest number that a handle may have */
/* Whether there is the rule; the library below is asked once. */
int f_numbering_known(void);
#pragma GCC visibility pop

static inline f_int f_rule_above(void) { return atomic_load_explicit(&f_numbering.above, memory_order_acquire); }

/* Whether a number goes by the rule, where those above `above` do; and the handle that it has by it. The second is
 * asked after the first alone, which has waited for what it reads. */
static inline int f_is_above(f_int number, f_int above) {
#if ASHLAR_F_INT == 8
  if (number > F_NONE_ABOVE) return 0;
#endif
  return number > above;
}
static inline uintptr_t f_handle_at(f_int number) {
  return f_numbering.zero + (uintptr_t)(f_number_bits)number * F_STEP;
}

/* The number of a handle: by the rule if f_is_number() of it. */
static inline uintptr_t f_number_at(uintptr_t handle) {
  return (handle - __atomic_load_n(&f_numbering.zero, __ATOMIC_RELAXED)) / F_STEP;
}
static inline int f_is_number(uintptr_t number) { return number <= F_NONE_ABOVE; }

#endif

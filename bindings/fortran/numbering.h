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
/* The handle with the number F_PREDEFINED, and how many there are from it on by the rule: F_BY_RULE. Until the first
 * handle that is not predefined is converted, and for good where there is no such rule, there are none, and the first
 * is so far from every address that no handle is near it. */
extern struct f_numbering {
  atomic_uintptr_t first;
  _Atomic(f_number_bits) handles; /* set after `first` */
} f_numbering;
#define F_NOWHERE ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))
#define F_BY_RULE (INT_MAX - F_PREDEFINED)
/* Whether there is the rule; the library below is asked once. */
int f_numbering_known(void);
#pragma GCC visibility pop

static inline f_number_bits f_handles_by_rule(void) {
  return atomic_load_explicit(&f_numbering.handles, memory_order_acquire);
}
static inline uintptr_t f_first(void) { return atomic_load_explicit(&f_numbering.first, memory_order_relaxed); }

/* A number's distance from F_PREDEFINED, and the handle there: by the rule if it is below f_handles_by_rule(). The
 * distance to a handle, by the rule if it is below F_BY_RULE. */
static inline f_number_bits f_distance_of(f_int number) { return (f_number_bits)number - F_PREDEFINED; }
static inline uintptr_t f_handle_at(f_number_bits distance) { return f_first() + (uintptr_t)distance * F_STEP; }
static inline uintptr_t f_distance_to(uintptr_t handle) { return (handle - f_first()) / F_STEP; }

#endif

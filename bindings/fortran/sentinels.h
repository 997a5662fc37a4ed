#ifndef ASHLAR_FORTRAN_SENTINELS_H
#define ASHLAR_FORTRAN_SENTINELS_H
/* The variables behind MPI_BOTTOM, MPI_STATUS_IGNORE and their kin. Only their addresses count. In mpif.h they are
 * COMMON blocks, which lie in the program; the modules have them under the names of these, so that C has one address
 * for both (MPI_F_STATUS_IGNORE). A part of a program that is loaded later may have a block, or find the one of this
 * library, when the library has long been bound to another one: what lies in this library is recognised as well, so
 * that the modules work there. A status is of another type in mpi_f08, which has variables of its own. */
#include "names.h"

/* name, NAME, type, elements */
#define F_SENTINELS(X)                            \
  X(bottom, BOTTOM, f_int, 1)                     \
  X(in_place, IN_PLACE, f_int, 1)                 \
  X(buffer_automatic, BUFFER_AUTOMATIC, f_int, 1) \
  X(status_ignore, STATUS_IGNORE, f_int, 8)       \
  X(statuses_ignore, STATUSES_IGNORE, f_int, 8)   \
  X(errcodes_ignore, ERRCODES_IGNORE, f_int, 1)   \
  X(unweighted, UNWEIGHTED, f_int, 1)             \
  X(weights_empty, WEIGHTS_EMPTY, f_int, 1)       \
  X(argv_null, ARGV_NULL, char, 1)                \
  X(argvs_null, ARGVS_NULL, char, 1)

#define F_OWN(lower) f_own_##lower
#define F_DECLARE_SENTINEL(lower, UPPER, type, n) \
  extern type F_COMMON(lower, UPPER)[n];          \
  F_INTERNAL extern const void* const F_OWN(lower); /* where it lies in this library */
F_SENTINELS(F_DECLARE_SENTINEL)
#undef F_DECLARE_SENTINEL
extern f_int F_STATUS08(status_ignore08)[8], F_STATUS08(statuses_ignore08)[8];

#define F_IS(address, lower, UPPER) \
  ((const void*)(address) == F_COMMON(lower, UPPER) || (const void*)(address) == F_OWN(lower))

#pragma GCC visibility push(hidden)
/* From the lowest of the variables behind MPI_BOTTOM and MPI_IN_PLACE to behind the highest: one comparison for an
 * address that is none of them. Until the library is loaded completely they are anywhere. */
extern struct f_range { uintptr_t lowest, reach; } f_buffers;
#pragma GCC visibility pop

/* An address that is neither of the two, at the first look. */
static inline __attribute__((always_inline)) int f_ordinary(const void* address) {
  return (uintptr_t)address - f_buffers.lowest >= f_buffers.reach;
}

/* A buffer's address as C has it. */
static inline void* f_address(void* address) {
  if (F_LIKELY(f_ordinary(address))) return address;
  if (F_IS(address, bottom, BOTTOM)) return MPI_BOTTOM;
  if (F_IS(address, in_place, IN_PLACE)) return MPI_IN_PLACE;
  return address;
}

static inline void* f_attached(void* address) {
  return F_IS(address, buffer_automatic, BUFFER_AUTOMATIC) ? MPI_BUFFER_AUTOMATIC : address;
}

/* What MPI_Buffer_detach of mpi_f08 gives: C_LOC(MPI_BUFFER_AUTOMATIC) for the automatic one. */
static inline void f_store_detached(void* to, void* address) {
  *(void**)to = address == MPI_BUFFER_AUTOMATIC ? (void*)F_COMMON(buffer_automatic, BUFFER_AUTOMATIC) : address;
}

/* Most statuses are ignored ones: three comparisons, and not first one for all. */
static inline int f_ignored(const f_int* status) {
  if (F_LIKELY(status == F_COMMON(status_ignore, STATUS_IGNORE))) return 1;
  if (F_LIKELY(status == F_STATUS08(status_ignore08))) return 1;
  return (const void*)status == F_OWN(status_ignore);
}

static inline int f_all_ignored(const f_int* statuses) {
  return F_IS(statuses, statuses_ignore, STATUSES_IGNORE) || statuses == F_STATUS08(statuses_ignore08);
}

/* A constant that stands for an array; F_NONE of an ordinary one. */
#define F_NONE ((int*)-1)
static inline int* f_weights(const f_int* weights) {
  if (F_IS(weights, unweighted, UNWEIGHTED)) return MPI_UNWEIGHTED;
  return F_IS(weights, weights_empty, WEIGHTS_EMPTY) ? MPI_WEIGHTS_EMPTY : F_NONE;
}

static inline int* f_errcodes(const f_int* codes) {
  return F_IS(codes, errcodes_ignore, ERRCODES_IGNORE) ? MPI_ERRCODES_IGNORE : F_NONE;
}

#endif

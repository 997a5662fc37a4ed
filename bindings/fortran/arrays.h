#ifndef ASHLAR_FORTRAN_ARRAYS_H
#define ASHLAR_FORTRAN_ARRAYS_H
/* Arrays and statuses between Fortran and C. The macros declare variables of the entry point that uses them; where
 * memory is gone they set its `code`, and there is nothing in the array then. */
#include <stdlib.h>
#include <string.h>

#include "handles.h"
#include "sentinels.h"

#define F_FEW 16    /* elements that need no allocation */
#define F_SHORT 256 /* the same for a string */
#define F_EACH(i, n) for (MPI_Count i = 0; i < (n); ++i)

#pragma GCC visibility push(hidden)
/* `few`, or room for *n elements that free() takes back. Sets *n to 0 and *code where there is none. */
void* f_room(void* few, size_t size, MPI_Count limit, MPI_Count* n, int* code);

/* How many elements the arrays of a call have. 0 where the object is not valid: the call says so itself. */
MPI_Count f_peers(MPI_Comm comm);
MPI_Count f_size(MPI_Comm comm);
int f_rank(MPI_Comm comm);
MPI_Count f_indegree(MPI_Comm comm);
MPI_Count f_outdegree(MPI_Comm comm);
MPI_Count f_ndims(MPI_Comm comm);
MPI_Count f_last(const f_int* array, MPI_Count n);
MPI_Count f_total(const f_int* array, MPI_Count n);
/* Whether arguments that count at the root alone count here. */
int f_is_root(MPI_Comm comm, int root);
/* The root's number on all ranks, which all call this. */
MPI_Count f_from_root(MPI_Comm comm, int root, MPI_Count number);
#pragma GCC visibility pop

static inline MPI_Count f_items(MPI_Count n) { return n < 0 ? 0 : n; }
static inline MPI_Count f_least(MPI_Count a, MPI_Count b) { return a < b ? a : b; }

#define F_ROOM_FOR(type, name, n, few) \
  MPI_Count n_##name = f_items(n);     \
  type name##_few[few];                \
  type* const name = f_room(name##_few, sizeof(type), few, &n_##name, &code)
#define F_ROOM(type, name, n) F_ROOM_FOR(type, name, n, F_FEW)
#define F_LEAVE(name) \
  if (name != name##_few) free(name)
/* The same for an array that a request may need: never on the stack. */
#define F_ROOM_KEPT(type, name, n) \
  MPI_Count n_##name = f_items(n); \
  type name##_few[1];              \
  type* const name = f_room(name##_few, sizeof(type), 0, &n_##name, &code)
#define F_LEAVE_TO(name, request, life) \
  if (name != name##_few) f_pending_memory(code == MPI_SUCCESS ? request : MPI_REQUEST_NULL, life, name)

/* Arrays of INTEGER as arrays of int, or a constant that stands for one. */
#if ASHLAR_F_INT == 8
#define F_INTS_OUT(name, from, n, special)                            \
  int* const name##_special = (special);                              \
  F_ROOM(int, name##_room, name##_special == F_NONE ? (n) : 0);       \
  const MPI_Count n_##name __attribute__((unused)) = n_##name##_room; \
  int* const name = name##_special == F_NONE ? name##_room : name##_special
#define F_INTS_IN(name, from, n, special) \
  F_INTS_OUT(name, from, n, special);     \
  F_EACH(i, n_##name) name[i] = F_INT((from)[i])
#define F_INTS_BACK(name, to, n) \
  if (name##_special == F_NONE) F_EACH(i, n)(to)[i] = name[i]
#define F_INTS_LEAVE(name) F_LEAVE(name##_room)
#else
#define F_INTS_OUT(name, from, n, special) \
  int* const name##_special = (special);   \
  int* const name = name##_special == F_NONE ? (from) : name##_special
#define F_INTS_IN F_INTS_OUT
#define F_INTS_BACK(name, to, n) (void)0
#define F_INTS_LEAVE(name) (void)0
#endif

/* A status has the same eight numbers in both languages; they are as long as INTEGER in Fortran. */
#if ASHLAR_F_INT == 8
static inline MPI_Status* f_status_in(const f_int* from, MPI_Status* to) {
  F_EACH(i, 8)((int*)to)[i] = (int)from[i];
  return to;
}
static inline void f_status_out(const MPI_Status* from, f_int* to) { F_EACH(i, 8) to[i] = ((const int*)from)[i]; }
#define F_STATUS_OPEN(name, from) \
  MPI_Status name##_room;         \
  MPI_Status* const name = f_ignored(from) ? MPI_STATUS_IGNORE : f_status_in(from, &name##_room)
#define F_STATUS_CLOSE(name, to) \
  if (name != MPI_STATUS_IGNORE) f_status_out(name, to)
#define F_STATUSES_OPEN(name, from, n)                                     \
  F_ROOM(MPI_Status, name##_room, f_all_ignored(from) ? 0 : (n));          \
  F_EACH(i, n_##name##_room) f_status_in((from) + 8 * i, &name##_room[i]); \
  MPI_Status* const name = f_all_ignored(from) ? MPI_STATUSES_IGNORE : name##_room
#define F_STATUSES_CLOSE(name, to)                                        \
  F_EACH(i, n_##name##_room) f_status_out(&name##_room[i], (to) + 8 * i); \
  F_LEAVE(name##_room)
#else
_Static_assert(sizeof(MPI_Status) == 8 * sizeof(f_int), "a status is the same in memory");
#define F_STATUS_OPEN(name, from) MPI_Status* const name = f_ignored(from) ? MPI_STATUS_IGNORE : (MPI_Status*)(from)
#define F_STATUS_CLOSE(name, to) (void)0
#define F_STATUSES_OPEN(name, from, n) \
  MPI_Status* const name = f_all_ignored(from) ? MPI_STATUSES_IGNORE : (MPI_Status*)(from)
#define F_STATUSES_CLOSE(name, to) (void)0
#endif

#endif

#ifndef ASHLAR_FORTRAN_KEPT_H
#define ASHLAR_FORTRAN_KEPT_H
/* Datatypes of sections, kept for the next call that passes a section of the same shape: the calls of a loop pass the
 * same few again and again. A call that finds one makes nothing and asks nothing.
 *
 * Only predefined datatypes have theirs kept, because the handle of another may become that of something else. An entry
 * never changes; F_KEPT_SETS * F_KEPT_WAYS of them is the limit. */
#include <stdatomic.h>

#include "handles.h"
#include "section.h"

enum { F_KEPT_SETS = 64, F_KEPT_WAYS = 4, F_KEPT_RANKS = 7 };

/* `made` describes the first `count` elements of a datatype in a section; with blocks, those of one block of so many.
 */
struct f_kept {
  MPI_Datatype made;
  MPI_Count count;
  uint64_t what; /* f_kept_what */
  size_t elem_len;
  struct {
    ptrdiff_t distance, steps;
  } dim[F_KEPT_RANKS];
};

static inline __attribute__((always_inline)) int f_kept_fits(const struct f_kept* kept, const f_section* section,
                                                             int d) {
  return kept->dim[d].distance == f_distance(section, d) && kept->dim[d].steps == f_steps(section, d);
}

#pragma GCC visibility push(hidden)
extern _Atomic(struct f_kept*) f_kept_sets[F_KEPT_SETS][F_KEPT_WAYS];
/* The same of all dimensions above the first. */
int f_kept_fits_above(const struct f_kept*, const f_section*);
/* Keeps `made`, which is committed. False where it is not kept, and remains the caller's. */
int f_keep_type(const f_section*, MPI_Count count, f_int of, MPI_Count blocks, MPI_Datatype made);
#pragma GCC visibility pop

/* Datatype, rank and blocks in one number. */
static inline uint64_t f_kept_what(const f_section* section, f_int of, MPI_Count blocks) {
  return (uint32_t)F_INT(of) | (uint64_t)(unsigned char)section->rank << 32 | (uint64_t)blocks << 36;
}

static inline _Atomic(struct f_kept*)* f_kept_set(const f_section* section, MPI_Count count) {
  const uint64_t mixed = (uint64_t)(f_distance(section, 0) + count) * 0x9e3779b97f4a7c15u;
  return f_kept_sets[mixed >> 58];
}

/* The entry for a section of at least one dimension; NULL if there is none. */
static inline __attribute__((always_inline)) const struct f_kept* f_kept_of(const f_section* section, MPI_Count count,
                                                                            f_int of, MPI_Count blocks) {
  _Atomic(struct f_kept*)* const set = f_kept_set(section, count);
  const uint64_t what = f_kept_what(section, of, blocks);
  for (int way = 0; way < F_KEPT_WAYS; ++way) {
    const struct f_kept* const kept = atomic_load_explicit(&set[way], memory_order_acquire);
    if (!kept) return NULL;
    if (kept->count != count || kept->what != what || kept->elem_len != section->elem_len) continue;
    if (!f_kept_fits(kept, section, 0)) continue;
    if (section->rank == 2 ? f_kept_fits(kept, section, 1) : f_kept_fits_above(kept, section)) return kept;
  }
  return NULL;
}

#endif

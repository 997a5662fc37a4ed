#ifndef ASHLAR_FORTRAN_SECTION_H
#define ASHLAR_FORTRAN_SECTION_H
/* What a compiler passes for TYPE(*), DIMENSION(..), read without asking how it looks.
 *
 * ASHLAR_F_DESCRIPTORS says what the entry points get; probes of the kit found it out:
 *   1  the standard's descriptor, which a Fortran procedure (mpi_f08_shims.f90) makes of the compiler's own
 *   2  gfortran's own, the same since its version 9: strides in units of the span, and bounds
 *   3  the compiler's own, which is the standard's */
#include <stddef.h>

#include "names.h"

#if ASHLAR_F_DESCRIPTORS == 2
#include "gfortran_descriptor.h"
#define F_RANKS GFORTRAN_MAX_RANK
typedef struct gfortran_descriptor f_section;

static inline ptrdiff_t f_extent(const f_section* section, int d) {
  return section->dim[d].last - section->dim[d].first + 1;
}
static inline ptrdiff_t f_steps(const f_section* section, int d) {
  return section->dim[d].last - section->dim[d].first;
}
static inline ptrdiff_t f_distance(const f_section* section, int d) { return section->dim[d].stride * section->span; }
#else
#include <ISO_Fortran_binding.h>
#define F_RANKS CFI_MAX_RANK
typedef CFI_cdesc_t f_section;

static inline ptrdiff_t f_extent(const f_section* section, int d) { return section->dim[d].extent; }
static inline ptrdiff_t f_steps(const f_section* section, int d) { return section->dim[d].extent - 1; }
static inline ptrdiff_t f_distance(const f_section* section, int d) { return section->dim[d].sm; }
#endif

#pragma GCC visibility push(hidden)
int f_contiguous(const f_section* section);
#pragma GCC visibility pop

/* A scalar, or a row or table without gaps; the answer is right at once where it is yes. What is compiled for its size
 * leaves tables to f_contiguous. */
static inline __attribute__((always_inline)) int f_simple(const f_section* section) {
  const ptrdiff_t element = (ptrdiff_t)section->elem_len;
  if (section->rank == 1) return f_distance(section, 0) == element;
#ifndef __OPTIMIZE_SIZE__
  if (section->rank == 2)
    return f_distance(section, 0) == element && f_distance(section, 1) == element * f_extent(section, 0);
#endif
  return section->rank == 0;
}

#endif

/* What native.f90 passes, read in two ways. Nothing is followed before the numbers around it are right. */
#include <ISO_Fortran_binding.h>
#include <stddef.h>

#include "gfortran_descriptor.h"
#include "probe.h"

enum { kGfortran = 2, kStandard = 3 };

struct seen {
  const int* first;
  size_t element;
  int rank;
  ptrdiff_t extent[2], distance[2];
};

static struct seen as_gfortran(const struct gfortran_descriptor* buffer) {
  struct seen seen = {.first = buffer->base_addr, .element = buffer->elem_len, .rank = buffer->rank};
  for (int d = 0; d < 2 && d < seen.rank; ++d) {
    seen.extent[d] = buffer->dim[d].last - buffer->dim[d].first + 1;
    seen.distance[d] = buffer->dim[d].stride * buffer->span;
  }
  return seen;
}

static struct seen as_standard(const CFI_cdesc_t* buffer) {
  struct seen seen = {.first = buffer->base_addr, .element = buffer->elem_len, .rank = buffer->rank};
  for (int d = 0; d < 2 && d < seen.rank; ++d) {
    seen.extent[d] = buffer->dim[d].extent;
    seen.distance[d] = buffer->dim[d].sm;
  }
  return seen;
}

static int dimension_is(const struct seen* seen, int d, ptrdiff_t extent, ptrdiff_t distance) {
  return seen->extent[d] == extent && seen->distance[d] == distance;
}

static int expected(const struct seen* seen, int form) {
  switch (form) {
    case 1:
      return seen->rank == 2 && seen->element == 4 && dimension_is(seen, 0, 6, 4) && dimension_is(seen, 1, 5, 24) &&
             *seen->first == 11;
    case 2:
      return seen->rank == 2 && seen->element == 4 && dimension_is(seen, 0, 3, 8) && dimension_is(seen, 1, 3, -48) &&
             *seen->first == 25;
    case 3:
      return seen->rank == 0 && seen->element == 4 && *seen->first == 7;
    case 4:
      return seen->rank == 1 && seen->element == 5 && dimension_is(seen, 0, 3, 5);
    case 5:
      return seen->rank == 1 && dimension_is(seen, 0, 10, 4) && *seen->first == 9;
    case 6:
      return seen->rank == 2 && seen->element == 4 && seen->extent[0] == 3 && seen->extent[1] == -1;
    case 7:
      /* gfortran 12 passes a copy here, but none to a BIND(C) procedure. */
      return seen->rank == 1 && seen->element == 4 && (dimension_is(seen, 0, 2, 16) || dimension_is(seen, 0, 2, 4)) &&
             *seen->first == 2;
    case 8:
      return seen->rank == 2 && seen->element == 4 && seen->extent[0] == 0;
  }
  return 0;
}

void PROBE_NAME(ashlar_probe_native, ASHLAR_PROBE_NATIVE)(const void* buffer, const int* form, const int* layout,
                                                          int* right);
void PROBE_NAME(ashlar_probe_native, ASHLAR_PROBE_NATIVE)(const void* buffer, const int* form, const int* layout,
                                                          int* right) {
  const struct seen seen = *layout == kGfortran ? as_gfortran(buffer) : as_standard(buffer);
  if (!expected(&seen, *form)) *right = 0;
}

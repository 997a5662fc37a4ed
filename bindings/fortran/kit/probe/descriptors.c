/* What the descriptors of descriptors.f90 have to say. */
#include <ISO_Fortran_binding.h>

#include "probe.h"

int ashlar_probe_look(CFI_cdesc_t* buffer, int form);

static int dimension_is(const CFI_cdesc_t* buffer, int d, CFI_index_t extent, CFI_index_t distance) {
  return buffer->dim[d].extent == extent && buffer->dim[d].sm == distance;
}

int ashlar_probe_look(CFI_cdesc_t* buffer, int form) {
  const int* first = buffer->base_addr;
  switch (form) {
    case 1:
      return buffer->rank == 2 && *first == 11 && buffer->elem_len == 4 && dimension_is(buffer, 0, 6, 4) &&
             dimension_is(buffer, 1, 5, 24);
    case 2:
      return buffer->rank == 2 && *first == 25 && dimension_is(buffer, 0, 3, 8) && dimension_is(buffer, 1, 3, -48);
    case 3:
      return buffer->rank == 0 && *first == 7 && buffer->elem_len == 4;
    case 4:
      return buffer->rank == 1 && buffer->elem_len == 5 && buffer->dim[0].extent == 3;
    case 5:
      return buffer->rank == 1 && *first == 9 && dimension_is(buffer, 0, 10, 4);
    case 6:
      return buffer->rank == 2 && buffer->dim[1].extent == -1;
  }
  return 0;
}

#ifndef ASHLAR_GFORTRAN_DESCRIPTOR_H
#define ASHLAR_GFORTRAN_DESCRIPTOR_H
/* gfortran's own array descriptor, the same since its version 9. Strides count spans: the span is the size of what the
 * array's elements are parts of, elem_len that of the elements. */
#include <stddef.h>

#define GFORTRAN_MAX_RANK 15

struct gfortran_descriptor {
  void* base_addr;
  size_t offset;
  size_t elem_len;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
  struct {
    ptrdiff_t stride, first, last;
  } dim[];
};

#endif

/* The shapes of the procedures with choice buffers. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR */
#ifndef ASHLAR_FORTRAN_SHAPES_H
#define ASHLAR_FORTRAN_SHAPES_H
#include "sections.h"

#pragma GCC visibility push(hidden)
@SHAPES@
#pragma GCC visibility pop

#endif

/* What describes the choice buffers of each procedure. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR */
#include "shapes.h"

@SHAPES@

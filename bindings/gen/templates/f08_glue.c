/* Between mpi_f08 and the C interface. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR */
#include "bindings/fortran/glue.h"

#include <stdlib.h>

@FUNCTIONS@

/* The C functions below the procedures of mpi_f08 with choice buffers. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR
 * Compiled twice: as they are, and with ASHLAR_F_PMPI as the PMPI_ forms over PMPI_. */
#include "choice.h"
#include "entry.h"

@FUNCTIONS@

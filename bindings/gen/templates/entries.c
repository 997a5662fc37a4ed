/* The procedures of mpif.h and mpi, and those of mpi_f08 without choice buffers. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR
 * Compiled twice: as they are, and with ASHLAR_F_PMPI as the PMPI_ forms over PMPI_. */
#include "entry.h"

@FUNCTIONS@

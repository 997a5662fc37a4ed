/* The procedures of mpif.h, mpi and mpi_f08 in C. Generated; do not edit.
 * Made by: python3 bindings/gen/generate.py --fortran DIR
 * Compiled twice: as they are, and with ASHLAR_F_PMPI as the PMPI_ forms over PMPI_. */
#include "entry.h"
#if ASHLAR_F_DESCRIPTORS
#include "kept.h"
#include "shapes.h"
#endif

@FUNCTIONS@

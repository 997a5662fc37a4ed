! The constants of MPI-1 that later versions removed, for mpif.h. Generated; do not edit.
! Made by: python3 bindings/gen/generate.py --fortran DIR
@CONSTANTS@

! The specific procedures of mpi_f08 with choice buffers: each hands its arguments to C, where the compiler makes a
! descriptor of the standard's form from its own. Generated; do not edit.
! Made by: python3 bindings/gen/generate.py --fortran DIR
@SHIMS@

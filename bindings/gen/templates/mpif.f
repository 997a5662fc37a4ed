! mpif.h, in fixed and in free form. Generated; do not edit.
! Made by: python3 bindings/gen/generate.py --fortran DIR
@CONSTANTS@
! Only the addresses of these count.
@SENTINELS@
@FUNCTIONS@
@PROCEDURES@
!sizeof

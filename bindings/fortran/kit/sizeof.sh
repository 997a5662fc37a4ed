# MPI_Sizeof for a compiler that passes no descriptors, which would say the size of an element: a specific procedure for each
# type and kind that the compiler has, whatever the rank. Sourced by ashlar-fortran after probe.sh.

# sizeof_body NAME TYPE: in fixed and in free form.
sizeof_body() {
  cat <<END_OF_BODY
      SUBROUTINE ashlar_f_sizeof_$1(x, size, ierror)
!DIR\$ IGNORE_TKR(r) x
      $2 :: x
      INTEGER, INTENT(OUT) :: size
      INTEGER, OPTIONAL, INTENT(OUT) :: ierror
      END SUBROUTINE ashlar_f_sizeof_$1
END_OF_BODY
}

# The kinds as "LETTER BYTES TYPE(KIND)", in lines; a set of sizes is the sum of its elements.
sizeof_kinds() {
  for kind in '1 2' '2 4' '4 9' '8 18' '16 38'; do
    [ $((found_INTEGERS & ${kind% *})) -eq 0 ] || echo "i ${kind% *} INTEGER(SELECTED_INT_KIND(${kind#* }))"
  done
  for bytes in 1 2 4 8 16; do
    [ $((found_LOGICALS & bytes)) -eq 0 ] || echo "l $bytes LOGICAL($bytes)"
  done
  reals=$((found_REALS & 28 | found_REAL10 * 1024))
  for kind in '4 6,37' '8 15,307' '16 33,4931' '1024 18,4931'; do
    [ $((reals & ${kind% *})) -eq 0 ] && continue
    bytes=${kind% *}
    [ "$bytes" -ne 1024 ] || bytes=10
    echo "r $bytes REAL(SELECTED_REAL_KIND(${kind#* }))"
    echo "c $bytes COMPLEX(SELECTED_REAL_KIND(${kind#* }))"
  done
}

sizeof_interfaces() {
  echo '      INTERFACE MPI_Sizeof'
  sizeof_kinds | while read -r letter bytes type; do sizeof_body "$letter$bytes" "$type"; done
  echo '      END INTERFACE MPI_Sizeof'
  echo '      INTERFACE PMPI_Sizeof'
  sizeof_kinds | while read -r letter bytes type; do echo "      PROCEDURE ashlar_f_sizeof_$letter$bytes"; done
  echo '      END INTERFACE PMPI_Sizeof'
}

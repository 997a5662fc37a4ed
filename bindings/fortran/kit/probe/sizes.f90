! Sizes of the default kinds, in bytes; the bits of .TRUE. and .FALSE., and which bits are read as true; other kinds.
program sizes
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, logical_kinds
  implicit none
  logical :: flag
  integer :: i, sum
  integer(int64), parameter :: patterns(4) = [1_int64, -1_int64, 2_int64, 256_int64]
  character(len=20) :: read_as_true

  print '(a,i0)', 'INT=', storage_size(1) / 8
  print '(a,i0)', 'LOGICAL=', storage_size(.true.) / 8
  print '(a,i0)', 'REAL=', storage_size(1.0) / 8
  print '(a,i0)', 'DOUBLE=', storage_size(1d0) / 8
  flag = .true.
  print '(a,i0)', 'TRUE=', bits(flag)
  flag = .false.
  print '(a,i0)', 'FALSE=', bits(flag)

  read_as_true = ''
  do i = 1, size(patterns)
    if (is_true(patterns(i))) write (read_as_true, '(a,1x,i0)') trim(read_as_true), patterns(i)
  end do
  print '(2a)', 'READ_AS_TRUE=', adjustl(trim(read_as_true))

  ! Sums of the sizes: a set in one number.
  sum = 0
  if (selected_int_kind(2) > 0) sum = sum + 1
  if (selected_int_kind(4) > 0) sum = sum + 2
  if (selected_int_kind(9) > 0) sum = sum + 4
  if (selected_int_kind(18) > 0) sum = sum + 8
  if (selected_int_kind(38) > 0) sum = sum + 16
  print '(a,i0)', 'INTEGERS=', sum
  sum = 0
  do i = 1, size(logical_kinds)
    select case (logical_kinds(i))
    case (1, 2, 4, 8, 16)
      sum = sum + logical_kinds(i)
    end select
  end do
  print '(a,i0)', 'LOGICALS=', sum
  sum = 4 + 8
  if (selected_real_kind(3, 4) /= selected_real_kind(6, 37)) sum = sum + 2
  if (selected_real_kind(33, 4931) > 0) sum = sum + 16
  print '(a,i0)', 'REALS=', sum
  i = 0
  if (selected_real_kind(18, 4931) > 0 .and. selected_real_kind(18, 4931) /= selected_real_kind(33, 4931)) i = 1
  print '(a,i0)', 'REAL10=', i
contains
  integer(int64) function bits(flag)
    logical, intent(in) :: flag
    select case (storage_size(flag))
    case (8)
      bits = transfer(flag, 0_int8)
    case (16)
      bits = transfer(flag, 0_int16)
    case (32)
      bits = transfer(flag, 0_int32)
    case default
      bits = transfer(flag, 0_int64)
    end select
  end function bits

  logical function is_true(pattern)
    integer(int64), intent(in) :: pattern
    logical :: flag
    integer(int64), volatile :: stored
    stored = pattern
    flag = transfer(stored, flag)
    is_true = .false.
    if (flag) is_true = .true.
  end function is_true
end program sizes

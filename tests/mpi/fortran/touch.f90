! A procedure that could change its argument, for what the compiler can see.
subroutine touch(buffer)
  implicit none
  integer, intent(inout) :: buffer
  if (buffer == -huge(buffer)) buffer = 0
end subroutine touch

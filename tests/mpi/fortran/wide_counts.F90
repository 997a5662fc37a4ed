! INTEGER of 8 bytes: numbers beyond 2**31 in each method, though two of them have no procedures for large counts. For flavours
! of that kind alone.
#include "method.fh"
program wide_counts
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: many = 3 * 2**30
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call datatypes
  call messages
  call received
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine datatypes
    DATATYPE_T :: made, nested, types(1)
    integer :: bytes, integers, addresses, datatypes_, combiner, numbers(4)
    integer(MPI_ADDRESS_KIND) :: lower, extent, places(1)
    call MPI_Type_contiguous(many, MPI_BYTE, made, ierror)
    call MPI_Type_size(made, bytes, ierror)
    call see(bytes == many, 'MPI_Type_contiguous')
    call MPI_Type_vector(2, 1, 2, made, nested, ierror)
    call MPI_Type_size(nested, bytes, ierror)
    call see(bytes == 2 * many, 'MPI_Type_vector')
    call MPI_Type_get_extent(nested, lower, extent, ierror)
    call see(lower == 0 .and. extent == 3 * many, 'MPI_Type_get_extent')
    call MPI_Type_free(nested, ierror)
    call MPI_Type_free(made, ierror)
    call MPI_Type_indexed(2, [1, many], [2 * many, 0], MPI_INTEGER2, made, ierror)
    call MPI_Type_size(made, bytes, ierror)
    call see(bytes == 2 * (many + 1), 'MPI_Type_indexed')
    call MPI_Type_get_true_extent(made, lower, extent, ierror)
    call see(lower == 0 .and. extent == 2 * (2 * many + 1), 'a displacement')
    call MPI_Type_free(made, ierror)
    call MPI_Type_contiguous(many, MPI_INTEGER2, made, ierror)
    call MPI_Type_get_envelope(made, integers, addresses, datatypes_, combiner, ierror)
    numbers = -1
    call MPI_Type_get_contents(made, integers, addresses, datatypes_, numbers, places, types, ierror)
    call see(combiner == MPI_COMBINER_CONTIGUOUS .and. numbers(1) == many, 'MPI_Type_get_contents')
    call MPI_Pack_size(many, MPI_INTEGER2, MPI_COMM_SELF, bytes, ierror)
    call see(bytes >= 2 * many, 'MPI_Pack_size')
    call MPI_Type_free(made, ierror)
  end subroutine datatypes

  ! To no process: nothing of that size is there to be sent.
  subroutine messages
    integer :: buffer(1)
    REQUEST_T :: request
    STATUS_T(status)
    buffer = 7
    call MPI_Send(buffer, many, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Send')
    call MPI_Irecv(buffer, many, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Irecv')
    call MPI_Wait(request, status, ierror)
    call see(SOURCE_OF(status) == MPI_PROC_NULL, 'MPI_Wait')
    call MPI_Send_init(buffer, many, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request, ierror)
    call MPI_Start(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Request_free(request, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Send_init')
  end subroutine messages

  ! What a status says of a message that was not sent.
  subroutine received
    STATUS_T(status)
    integer :: number
    call MPI_Recv(number, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierror)
    call MPI_Status_set_elements(status, MPI_INTEGER2, many, ierror)
    call MPI_Get_elements(status, MPI_INTEGER2, number, ierror)
    call see(number == many, 'MPI_Get_elements')
    call MPI_Get_count(status, MPI_BYTE, number, ierror)
    call see(number == 2 * many, 'MPI_Get_count')
  end subroutine received
end program wide_counts

#ifndef ASHLAR_FORTRAN_STUBS_H
#define ASHLAR_FORTRAN_STUBS_H
/* Reduction functions and error handlers get no state from MPI, so that there is one C function for each Fortran
 * procedure: a stub, which adds its number to the arguments. */
#include <mpi.h>

#define F_REDUCTION_STUBS 512
#define F_HANDLER_STUBS 128

#pragma GCC visibility push(hidden)
MPI_User_function* f_reduction_stub(int number);
MPI_User_function_c* f_reduction_large_stub(int number);
MPI_Comm_errhandler_function* f_comm_stub(int number);
MPI_Win_errhandler_function* f_win_stub(int number);
MPI_File_errhandler_function* f_file_stub(int number);
MPI_Session_errhandler_function* f_session_stub(int number);

/* What they call. */
void f_reduce(void* in, void* inout, int* len, MPI_Datatype*, int number);
void f_reduce_large(void* in, void* inout, MPI_Count* len, MPI_Datatype*, int number);
void f_comm_handle(MPI_Comm*, int* code, int number);
void f_win_handle(MPI_Win*, int* code, int number);
void f_file_handle(MPI_File*, int* code, int number);
void f_session_handle(MPI_Session*, int* code, int number);
#pragma GCC visibility pop

#endif

#ifndef ASHLAR_FORTRAN_CALLBACKS_H
#define ASHLAR_FORTRAN_CALLBACKS_H
/* Fortran procedures as C functions. A callback that gets a state from MPI finds its procedure there. Reduction
 * functions and error handlers get none: for each procedure of the program there is a C function of its own that knows
 * it. These are compiled in, so many of each kind, and are never given back: a program's text has so many procedures,
 * however many operations and handlers it makes of them. */
#include "names.h"

typedef void f_procedure(void);

#pragma GCC visibility push(hidden)
/* NULL when all are in use; f_complain has been called then. */
MPI_User_function* f_reduction(f_procedure*, const char* call, int* code);
MPI_User_function_c* f_reduction_large(f_procedure*, const char* call, int* code);
MPI_Comm_errhandler_function* f_comm_handler(f_procedure*, const char* call, int* code);
MPI_Win_errhandler_function* f_win_handler(f_procedure*, const char* call, int* code);
MPI_File_errhandler_function* f_file_handler(f_procedure*, const char* call, int* code);
MPI_Session_errhandler_function* f_session_handler(f_procedure*, const char* call, int* code);
#pragma GCC visibility pop

#endif

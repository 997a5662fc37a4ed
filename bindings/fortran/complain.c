#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

/* The standard lets a library above MPI make error codes with strings. A thread has one for each class that is used
 * here, and gives it a new string each time. */
enum { kClasses = 64 };
static _Thread_local int codes[kClasses];

int f_complain(MPI_Comm comm, MPI_Win win, int class, const char* format, ...) {
  char text[MPI_MAX_ERROR_STRING];
  va_list arguments;
  int code = class;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (class < kClasses) {
    if (codes[class] == 0 && PMPI_Add_error_code(class, &codes[class]) != MPI_SUCCESS) codes[class] = 0;
    if (codes[class] != 0 && PMPI_Add_error_string(codes[class], text) == MPI_SUCCESS) code = codes[class];
  }
  if (win != MPI_WIN_NULL)
    PMPI_Win_call_errhandler(win, code);
  else
    PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm, code);
  return code;
}

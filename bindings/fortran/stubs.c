/* Stubs jump, so that no caller ever returns to one: they need no tables for unwinding. And there are many: they are
 * found by a switch, because a table of pointers would have to be relocated at each start. */
#include "stubs.h"

/* The numbers are octal digits, so that three of them make a name. */
#define UNITS(X, a, b) X(a, b, 0) X(a, b, 1) X(a, b, 2) X(a, b, 3) X(a, b, 4) X(a, b, 5) X(a, b, 6) X(a, b, 7)
#define TENS(X, a) \
  UNITS(X, a, 0)   \
  UNITS(X, a, 1) UNITS(X, a, 2) UNITS(X, a, 3) UNITS(X, a, 4) UNITS(X, a, 5) UNITS(X, a, 6) UNITS(X, a, 7)
#define HANDLER_STUBS(X) TENS(X, 0) TENS(X, 1)
#define REDUCTION_STUBS(X) HANDLER_STUBS(X) TENS(X, 2) TENS(X, 3) TENS(X, 4) TENS(X, 5) TENS(X, 6) TENS(X, 7)
#define NUMBER(a, b, c) (64 * a + 8 * b + c)

#define REDUCTION(a, b, c)                                                               \
  static void reduction_##a##b##c(void* in, void* inout, int* len, MPI_Datatype* type) { \
    f_reduce(in, inout, len, type, NUMBER(a, b, c));                                     \
  }
#define REDUCTION_LARGE(a, b, c)                                                                     \
  static void reduction_large_##a##b##c(void* in, void* inout, MPI_Count* len, MPI_Datatype* type) { \
    f_reduce_large(in, inout, len, type, NUMBER(a, b, c));                                           \
  }
#define COMM(a, b, c) \
  static void comm_##a##b##c(MPI_Comm* object, int* code, ...) { f_comm_handle(object, code, NUMBER(a, b, c)); }
#define WIN(a, b, c) \
  static void win_##a##b##c(MPI_Win* object, int* code, ...) { f_win_handle(object, code, NUMBER(a, b, c)); }
#define FILE(a, b, c) \
  static void file_##a##b##c(MPI_File* object, int* code, ...) { f_file_handle(object, code, NUMBER(a, b, c)); }
#define SESSION(a, b, c)                                               \
  static void session_##a##b##c(MPI_Session* object, int* code, ...) { \
    f_session_handle(object, code, NUMBER(a, b, c));                   \
  }
REDUCTION_STUBS(REDUCTION)
REDUCTION_STUBS(REDUCTION_LARGE)
HANDLER_STUBS(COMM)
HANDLER_STUBS(WIN)
HANDLER_STUBS(FILE)
HANDLER_STUBS(SESSION)

#define CASE(name, a, b, c) \
  case NUMBER(a, b, c):     \
    return name##_##a##b##c;
#define CHOOSE_REDUCTION(a, b, c) CASE(reduction, a, b, c)
#define CHOOSE_REDUCTION_LARGE(a, b, c) CASE(reduction_large, a, b, c)
#define CHOOSE_COMM(a, b, c) CASE(comm, a, b, c)
#define CHOOSE_WIN(a, b, c) CASE(win, a, b, c)
#define CHOOSE_FILE(a, b, c) CASE(file, a, b, c)
#define CHOOSE_SESSION(a, b, c) CASE(session, a, b, c)
#define CHOICE(Type, name, STUBS, NAME) \
  Type* f_##name##_stub(int number) {   \
    switch (number) { STUBS(NAME) }     \
    return 0;                           \
  }
CHOICE(MPI_User_function, reduction, REDUCTION_STUBS, CHOOSE_REDUCTION)
CHOICE(MPI_User_function_c, reduction_large, REDUCTION_STUBS, CHOOSE_REDUCTION_LARGE)
CHOICE(MPI_Comm_errhandler_function, comm, HANDLER_STUBS, CHOOSE_COMM)
CHOICE(MPI_Win_errhandler_function, win, HANDLER_STUBS, CHOOSE_WIN)
CHOICE(MPI_File_errhandler_function, file, HANDLER_STUBS, CHOOSE_FILE)
CHOICE(MPI_Session_errhandler_function, session, HANDLER_STUBS, CHOOSE_SESSION)

#ifndef ASHLAR_FORTRAN_HANDLES_H
#define ASHLAR_FORTRAN_HANDLES_H
/* Scalars between Fortran and C: handles, numbers, LOGICALs. */
#include <limits.h>

#include "names.h"

/* An INTEGER as C's int. A value of 8 bytes that int does not have becomes the nearest that it has, which no call takes
 * for something else. */
#if ASHLAR_F_INT == 8
static inline int F_INT(f_int value) { return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value; }
#else
#define F_INT(value) (value)
#endif

/* f_comm(257) and f_comm_int(MPI_COMM_WORLD). A predefined handle is its number in the standard ABI. */
#define F_PREDEFINED 4096
#define F_HANDLE(name, Type, Class)                                                    \
  static inline Type f_##name(f_int value) {                                           \
    if (F_LIKELY((uint64_t)value < F_PREDEFINED)) return (Type)(intptr_t)value;        \
    return PMPI_##Class##_fromint(F_INT(value));                                       \
  }                                                                                    \
  static inline f_int f_##name##_int(Type handle) {                                    \
    const uintptr_t bits = (uintptr_t)handle;                                          \
    return F_LIKELY(bits < F_PREDEFINED) ? (f_int)bits : PMPI_##Class##_toint(handle); \
  }
/* A handle that is its own number. */
#define F_DIRECT(value) ((uint64_t)(value) < F_PREDEFINED)
#define F_AS(Type, value) ((Type)(intptr_t)(value))
F_HANDLE(comm, MPI_Comm, Comm)
F_HANDLE(group, MPI_Group, Group)
F_HANDLE(datatype, MPI_Datatype, Type)
F_HANDLE(op, MPI_Op, Op)
F_HANDLE(request, MPI_Request, Request)
F_HANDLE(message, MPI_Message, Message)
F_HANDLE(info, MPI_Info, Info)
F_HANDLE(errhandler, MPI_Errhandler, Errhandler)
F_HANDLE(session, MPI_Session, Session)
F_HANDLE(win, MPI_Win, Win)
F_HANDLE(file, MPI_File, File)
#undef F_HANDLE

/* Whatever is not .FALSE. is true, also where a compiler tests one bit: the others are never set by a program. */
#define F_TRUTH(value) ((value) != (f_logical)ASHLAR_F_FALSE)
#define F_LOGICAL(truth) ((truth) ? (f_logical)ASHLAR_F_TRUE : (f_logical)ASHLAR_F_FALSE)

/* Indices of arrays count from one in Fortran. */
#define F_FROM_ONE(index) ((index) == MPI_UNDEFINED ? MPI_UNDEFINED : (index) + 1)

static inline void f_return(f_int* ierror, int code) {
  if (ierror) *ierror = code;
}

#endif

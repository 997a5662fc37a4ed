#ifndef ASHLAR_FORTRAN_HANDLES_H
#define ASHLAR_FORTRAN_HANDLES_H
/* Scalars between Fortran and C: handles, numbers, LOGICALs. */
#include "numbering.h"

/* An INTEGER as C's int. A value of 8 bytes that int does not have becomes the nearest that it has, which no call takes
 * for something else. */
#if ASHLAR_F_INT == 8
static inline int F_INT(f_int value) { return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value; }
#else
#define F_INT(value) (value)
#endif

/* name, type, class, and whether the rule is worth its place in each call: such handles are converted often. */
#define F_HANDLES(X)                           \
  X(comm, MPI_Comm, Comm, 0)                   \
  X(group, MPI_Group, Group, 0)                \
  X(datatype, MPI_Datatype, Type, 0)           \
  X(op, MPI_Op, Op, 0)                         \
  X(request, MPI_Request, Request, 1)          \
  X(message, MPI_Message, Message, 0)          \
  X(info, MPI_Info, Info, 0)                   \
  X(errhandler, MPI_Errhandler, Errhandler, 0) \
  X(session, MPI_Session, Session, 0)          \
  X(win, MPI_Win, Win, 1)                      \
  X(file, MPI_File, File, 0)

#ifdef __OPTIMIZE_SIZE__
#define F_OFTEN(often) 0
#else
#define F_OFTEN(often) often
#endif

/* A handle that is its own number. */
#define F_DIRECT(value) ((f_number_bits)(value) < F_PREDEFINED)

/* f_comm(257) and f_comm_int(MPI_COMM_WORLD). */
#define F_HANDLE(name, Type, Class, often)                                                    \
  F_INTERNAL Type f_##name##_asked(f_int value);                                              \
  F_INTERNAL f_int f_##name##_int_asked(Type handle);                                         \
  static inline Type f_##name(f_int value) {                                                  \
    if (F_LIKELY(F_DIRECT(value))) return (Type)(uintptr_t)(f_number_bits)value;              \
    if (F_OFTEN(often) && f_is_above(value, f_rule_above())) return (Type)f_handle_at(value); \
    return f_##name##_asked(value);                                                           \
  }                                                                                           \
  static inline f_int f_##name##_int(Type handle) {                                           \
    const uintptr_t bits = (uintptr_t)handle;                                                 \
    return F_LIKELY(bits < F_PREDEFINED) ? (f_int)bits : f_##name##_int_asked(handle);        \
  }
F_HANDLES(F_HANDLE)
#undef F_HANDLE

/* Whatever is not .FALSE. is true, also where a compiler tests one bit: the others are never set by a program. */
#define F_TRUTH(value) ((value) != (f_logical)ASHLAR_F_FALSE)
#define F_LOGICAL(truth) ((truth) ? (f_logical)ASHLAR_F_TRUE : (f_logical)ASHLAR_F_FALSE)

/* Indices of arrays count from one in Fortran. */
#define F_FROM_ONE(index) ((index) == MPI_UNDEFINED ? MPI_UNDEFINED : (index) + 1)

static inline void f_return(f_int* ierror, int code) {
  if (ierror) *ierror = code;
}

/* The compiler shall not keep what it has read. */
#define F_READ_AGAIN() __asm__ volatile("" ::: "memory")

/* The handle of a number, where nobody has to be asked for it. The number is compared where it lies, and read when it
 * is known for a predefined handle: so it can be read into the register in which its address was, which C's call takes.
 */
static inline int f_found(const f_int* at, uintptr_t* handle) {
  if (F_LIKELY(F_DIRECT(*at))) {
    F_READ_AGAIN();
    *handle = (f_number_bits)*at;
    return 1;
  }
  F_READ_AGAIN();
  if (f_is_above(*at, f_rule_above())) {
    *handle = f_handle_at(*at);
    return 1;
  }
  return 0;
}

/* The end of a call that made a request, or completed one. It calls nothing before that is all done, so that the entry
 * point need not keep anything for it; the handle is read again where it is needed again. */
F_INTERNAL void f_return_asked(f_int* request, MPI_Request handle, f_int* ierror, int code);
#define F_HANDLE_BITS(handle) ((uintptr_t) * (MPI_Request const volatile*)(handle))
static inline void f_return_made(f_int* request, const MPI_Request* handle, f_int* ierror, int code) {
  const uintptr_t number = f_number_at(F_HANDLE_BITS(handle));
  if (F_LIKELY(f_is_number(number))) {
    *request = (f_int)number;
    f_return(ierror, code);
  } else {
    f_return_asked(request, *handle, ierror, code);
  }
}
static inline void f_return_done(f_int* request, const MPI_Request* handle, f_int* ierror, int code) {
  const uintptr_t bits = F_HANDLE_BITS(handle);
  if (F_LIKELY(bits < F_PREDEFINED)) {
    *request = (f_int)bits;
    f_return(ierror, code);
  } else {
    f_return_asked(request, *handle, ierror, code);
  }
}

#endif

#ifndef ASHLAR_FORTRAN_NAMES_H
#define ASHLAR_FORTRAN_NAMES_H
/* What differs between Fortran compilers, by macros that the command line sets: how external names look, how large
 * INTEGER and LOGICAL are, what .TRUE. is, the type of a string's hidden length.
 *
 * Everything here stands over public MPI names, so that it works with any library that has the standard ABI. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if ASHLAR_F_MANGLING == 1
#define ASHLAR_F_MANGLE(lower, UPPER) lower##_
#elif ASHLAR_F_MANGLING == 2
#define ASHLAR_F_MANGLE(lower, UPPER) lower##__
#elif ASHLAR_F_MANGLING == 3
#define ASHLAR_F_MANGLE(lower, UPPER) lower
#elif ASHLAR_F_MANGLING == 4
#define ASHLAR_F_MANGLE(lower, UPPER) UPPER
#else
#error "ASHLAR_F_MANGLING says how the compiler makes names of external procedures: 1 to 4"
#endif

/* F_PROC(send, SEND) is mpi_send_, or pmpi_send_ where the PMPI_ forms are made; F_PLAIN(send) the same function under
 * a name that no tool can replace; F_TS(send, SEND) the procedure of mpi_f08 that takes a section, or what its shim
 * calls; F_CALL(MPI_Send) the C function below. */
#if ASHLAR_F_PMPI
#define F_PROC(lower, UPPER) ASHLAR_F_MANGLE(pmpi_##lower, PMPI_##UPPER)
#define F_PLAIN(lower) ashlar_fp_internal_##lower
#define F_SHIMMED(lower) ashlar_fp_##lower##_ts
#define F_CALL(name) P##name
#else
#define F_PROC(lower, UPPER) ASHLAR_F_MANGLE(mpi_##lower, MPI_##UPPER)
#define F_PLAIN(lower) ashlar_f_internal_##lower
#define F_SHIMMED(lower) ashlar_f_##lower##_ts
#define F_CALL(name) name
#endif
#if ASHLAR_F_DESCRIPTORS == 1
#define F_TS(lower, UPPER) F_SHIMMED(lower)
#else
#define F_TS(lower, UPPER) F_PROC(lower##_f08ts, UPPER##_F08TS)
#endif

/* A deprecated function of C's, or its successor where the library below has none: Open MPI's has no MPI_Attr_get. */
#define F_MAY_BE_ABSENT(name) extern __typeof__(name) name __attribute__((weak))
#define F_CALL_OR(name, successor) (F_CALL(name) ? F_CALL(name) : F_CALL(successor))
F_MAY_BE_ABSENT(MPI_Attr_delete);
F_MAY_BE_ABSENT(MPI_Attr_get);
F_MAY_BE_ABSENT(MPI_Attr_put);
F_MAY_BE_ABSENT(MPI_Keyval_create);
F_MAY_BE_ABSENT(MPI_Keyval_free);
F_MAY_BE_ABSENT(PMPI_Attr_delete);
F_MAY_BE_ABSENT(PMPI_Attr_get);
F_MAY_BE_ABSENT(PMPI_Attr_put);
F_MAY_BE_ABSENT(PMPI_Keyval_create);
F_MAY_BE_ABSENT(PMPI_Keyval_free);

/* A default INTEGER; and a count, a displacement, an address or size as C's form takes it that has room for it. */
#if ASHLAR_F_INT == 8
typedef int64_t f_int;
typedef MPI_Count f_count;
typedef MPI_Aint f_displ;
typedef MPI_Count f_bytes;
#define F_CALL_WIDE(name) F_CALL(name##_c)
#define F_STATUS08(lower) ashlar_f8_##lower
#define F_COMMON(lower, UPPER) ASHLAR_F_MANGLE(ashlar_f8_c_##lower, ASHLAR_F8_C_##UPPER)
#else
typedef int32_t f_int;
typedef int f_count;
typedef int f_displ;
typedef MPI_Aint f_bytes;
#define F_CALL_WIDE(name) F_CALL(name)
#define F_STATUS08(lower) ashlar_f4_##lower
#define F_COMMON(lower, UPPER) ASHLAR_F_MANGLE(ashlar_f4_c_##lower, ASHLAR_F4_C_##UPPER)
#endif

#if ASHLAR_F_LOGICAL == 8
typedef int64_t f_logical;
#elif ASHLAR_F_LOGICAL == 2
typedef int16_t f_logical;
#elif ASHLAR_F_LOGICAL == 1
typedef int8_t f_logical;
#else
typedef int32_t f_logical;
#endif

typedef ASHLAR_F_LENGTH f_length;

/* Another name for a function of this file. */
#define F_STRING_OF(name) #name
#define F_QUOTED(name) F_STRING_OF(name)
#define F_ALIAS(name, of) extern __typeof__(of) name __attribute__((alias(F_QUOTED(of))))
#define F_INTERNAL __attribute__((visibility("hidden")))
#define F_INTERNAL_ALIAS(name, of) extern __typeof__(of) name __attribute__((alias(F_QUOTED(of)), visibility("hidden")))

/* A function whose address the dynamic linker finds when the library is loaded: the call takes it from there, without
 * the jump in between that finds it at the first call. */
#if defined(__GNUC__) && !defined(__clang__)
#define F_BOUND_AT_ONCE(name) extern __typeof__(name) name __attribute__((noplt))
#else
#define F_BOUND_AT_ONCE(name) extern __typeof__(name) name
#endif

#define F_OUT_OF_LINE __attribute__((noinline))
#define F_SELDOM __attribute__((noinline, cold))
#define F_LIKELY(x) __builtin_expect(!!(x), 1)

#endif

/* Procedures of Fortran alone. Compiled twice, as the generated entry points are. */
#include "entry.h"
#include "section.h"

#if ASHLAR_F_DESCRIPTORS
void F_TS(sizeof, SIZEOF)(f_section* x, f_int* size, f_int* ierror);
void F_TS(f_sync_reg, F_SYNC_REG)(f_section* buf);

void F_TS(sizeof, SIZEOF)(f_section* x, f_int* size, f_int* ierror) {
  *size = (f_int)x->elem_len;
  f_return(ierror, MPI_SUCCESS);
}
#if ASHLAR_F_DESCRIPTORS != 1
F_ALIAS(F_PROC(sizeof, SIZEOF), F_TS(sizeof, SIZEOF));
#endif

/* What matters is that the compiler does not see what it does. */
void F_TS(f_sync_reg, F_SYNC_REG)(f_section* buf) { (void)buf; }
#endif

#if !ASHLAR_F_DESCRIPTORS && !ASHLAR_F_PMPI
/* The specific procedures that kit/sizeof.sh declares, one for each type and kind that the compiler may have. */
#define SIZEOF(lower, UPPER, bytes)                                                                                   \
  void ASHLAR_F_MANGLE(ashlar_f_sizeof_##lower, ASHLAR_F_SIZEOF_##UPPER)(const void*, f_int*, f_int*);                \
  void ASHLAR_F_MANGLE(ashlar_f_sizeof_##lower, ASHLAR_F_SIZEOF_##UPPER)(const void* x, f_int* size, f_int* ierror) { \
    (void)x;                                                                                                          \
    *size = (bytes);                                                                                                  \
    f_return(ierror, MPI_SUCCESS);                                                                                    \
  }
SIZEOF(i1, I1, 1)
SIZEOF(i2, I2, 2)
SIZEOF(i4, I4, 4)
SIZEOF(i8, I8, 8)
SIZEOF(i16, I16, 16)
SIZEOF(l1, L1, 1)
SIZEOF(l2, L2, 2)
SIZEOF(l4, L4, 4)
SIZEOF(l8, L8, 8)
SIZEOF(l16, L16, 16)
SIZEOF(r4, R4, 4)
SIZEOF(r8, R8, 8)
SIZEOF(r10, R10, sizeof(long double))
SIZEOF(r16, R16, 16)
SIZEOF(c4, C4, 8)
SIZEOF(c8, C8, 16)
SIZEOF(c10, C10, 2 * sizeof(long double))
SIZEOF(c16, C16, 32)
#endif

void F_PROC(f_sync_reg, F_SYNC_REG)(void* buf);
void F_PROC(f_sync_reg, F_SYNC_REG)(void* buf) { (void)buf; }
#if !ASHLAR_F_DESCRIPTORS
F_ALIAS(F_PROC(f_sync_reg_f08, F_SYNC_REG_F08), F_PROC(f_sync_reg, F_SYNC_REG));
#endif

/* TYPE(MPI_Status) and an array of its size are the same in memory. */
void F_PROC(status_f2f08, STATUS_F2F08)(const f_int* from, f_int* to, f_int* ierror);
void F_PROC(status_f2f08, STATUS_F2F08)(const f_int* from, f_int* to, f_int* ierror) {
  memmove(to, from, 8 * sizeof *to);
  f_return(ierror, MPI_SUCCESS);
}
F_ALIAS(F_PROC(status_f082f, STATUS_F082F), F_PROC(status_f2f08, STATUS_F2F08));
F_ALIAS(F_PROC(status_f2f08_f08, STATUS_F2F08_F08), F_PROC(status_f2f08, STATUS_F2F08));
F_ALIAS(F_PROC(status_f082f_f08, STATUS_F082F_F08), F_PROC(status_f2f08, STATUS_F2F08));

/* The predefined callbacks, as procedures that a program may also call. */
#include "handles.h"

#define F_FUNCTION(lower, UPPER) ASHLAR_F_MANGLE(mpi_##lower, MPI_##UPPER)

#define COPIES(lower, UPPER, Value, dup, DUP, null, NULL_, erase, ERASE)                                              \
  void F_FUNCTION(dup, DUP)(f_int * object, f_int * keyval, Value * state, Value * in, Value * out, f_logical * flag, \
                            f_int * ierror) {                                                                         \
    (void)object, (void)keyval, (void)state;                                                                          \
    *out = *in;                                                                                                       \
    *flag = F_LOGICAL(1);                                                                                             \
    f_return(ierror, MPI_SUCCESS);                                                                                    \
  }                                                                                                                   \
  void F_FUNCTION(null, NULL_)(f_int * object, f_int * keyval, Value * state, Value * in, Value * out,                \
                               f_logical * flag, f_int * ierror) {                                                    \
    (void)object, (void)keyval, (void)state, (void)in, (void)out;                                                     \
    *flag = F_LOGICAL(0);                                                                                             \
    f_return(ierror, MPI_SUCCESS);                                                                                    \
  }                                                                                                                   \
  void F_FUNCTION(erase, ERASE)(f_int * object, f_int * keyval, Value * value, Value * state, f_int * ierror) {       \
    (void)object, (void)keyval, (void)value, (void)state;                                                             \
    f_return(ierror, MPI_SUCCESS);                                                                                    \
  }
COPIES(comm, COMM, MPI_Aint, comm_dup_fn, COMM_DUP_FN, comm_null_copy_fn, COMM_NULL_COPY_FN, comm_null_delete_fn,
       COMM_NULL_DELETE_FN)
COPIES(type, TYPE, MPI_Aint, type_dup_fn, TYPE_DUP_FN, type_null_copy_fn, TYPE_NULL_COPY_FN, type_null_delete_fn,
       TYPE_NULL_DELETE_FN)
COPIES(win, WIN, MPI_Aint, win_dup_fn, WIN_DUP_FN, win_null_copy_fn, WIN_NULL_COPY_FN, win_null_delete_fn,
       WIN_NULL_DELETE_FN)
COPIES(, , f_int, dup_fn, DUP_FN, null_copy_fn, NULL_COPY_FN, null_delete_fn, NULL_DELETE_FN)

/* Only its address counts: it stands for no conversion. */
void F_FUNCTION(conversion_fn_null, CONVERSION_FN_NULL)(void* user, f_int* datatype, f_int* count, void* file,
                                                        MPI_Offset* position, MPI_Aint* state, f_int* ierror) {
  (void)user, (void)datatype, (void)count, (void)file, (void)position, (void)state;
  f_return(ierror, MPI_ERR_CONVERSION);
}
void F_FUNCTION(conversion_fn_null_c, CONVERSION_FN_NULL_C)(void* user, f_int* datatype, MPI_Count* count, void* file,
                                                            MPI_Offset* position, MPI_Aint* state, f_int* ierror) {
  (void)user, (void)datatype, (void)count, (void)file, (void)position, (void)state;
  f_return(ierror, MPI_ERR_CONVERSION);
}

/* The other procedures that take procedures. Compiled twice, as the generated entry points are. */
#include <stdlib.h>

#include "arrays.h"
#include "callbacks.h"
#include "states.h"

/* --- reductions and error handlers
 * -------------------------------------------------------------------------------------- */

void F_PROC(op_create, OP_CREATE)(f_procedure* user_fn, f_logical* commute, f_int* op, f_int* ierror) {
  int code = MPI_SUCCESS;
  MPI_Op c_op = MPI_OP_NULL;
  MPI_User_function* const function = f_reduction(user_fn, "MPI_Op_create", &code);
  if (function) code = F_CALL(MPI_Op_create)(function, F_TRUTH(*commute), &c_op);
  *op = f_op_int(c_op);
  f_return(ierror, code);
}
F_ALIAS(F_PROC(op_create_f08, OP_CREATE_F08), F_PROC(op_create, OP_CREATE));

void F_PROC(op_create_c_f08, OP_CREATE_C_F08)(f_procedure* user_fn, f_logical* commute, f_int* op, f_int* ierror) {
  int code = MPI_SUCCESS;
  MPI_Op c_op = MPI_OP_NULL;
  MPI_User_function_c* const function = f_reduction_large(user_fn, "MPI_Op_create_c", &code);
  if (function) code = F_CALL(MPI_Op_create_c)(function, F_TRUTH(*commute), &c_op);
  *op = f_op_int(c_op);
  f_return(ierror, code);
}

#define ERRHANDLER(lower, UPPER, Name)                                                                           \
  void F_PROC(lower##_create_errhandler, UPPER##_CREATE_ERRHANDLER)(f_procedure * procedure, f_int * errhandler, \
                                                                    f_int * ierror) {                            \
    int code = MPI_SUCCESS;                                                                                      \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                                   \
    MPI_##Name##_errhandler_function* const function =                                                           \
        f_##lower##_handler(procedure, "MPI_" #Name "_create_errhandler", &code);                                \
    if (function) code = F_CALL(MPI_##Name##_create_errhandler)(function, &made);                                \
    *errhandler = f_errhandler_int(made);                                                                        \
    f_return(ierror, code);                                                                                      \
  }                                                                                                              \
  F_ALIAS(F_PROC(lower##_create_errhandler_f08, UPPER##_CREATE_ERRHANDLER_F08),                                  \
          F_PROC(lower##_create_errhandler, UPPER##_CREATE_ERRHANDLER));
ERRHANDLER(comm, COMM, Comm)
ERRHANDLER(win, WIN, Win)
ERRHANDLER(file, FILE, File)
ERRHANDLER(session, SESSION, Session)

/* --- generalized requests and data representations
 * ---------------------------------------------------------------------- */

void F_PROC(grequest_start, GREQUEST_START)(f_procedure* query, f_procedure* release, f_procedure* cancel,
                                            MPI_Aint* state, f_int* request, f_int* ierror) {
  int code = MPI_ERR_NO_MEM;
  MPI_Request made = MPI_REQUEST_NULL;
  struct f_grequest* const of = malloc(sizeof *of);
  if (of) {
    *of = (struct f_grequest){query, release, cancel, *state};
    code = F_CALL(MPI_Grequest_start)(f_grequest_query, f_grequest_free, f_grequest_cancel, of, &made);
    if (code != MPI_SUCCESS) free(of);
  }
  *request = f_request_int(made);
  f_return(ierror, code);
}
F_ALIAS(F_PROC(grequest_start_f08, GREQUEST_START_F08), F_PROC(grequest_start, GREQUEST_START));

#define F_NULL_CONVERSION(procedure, lower, UPPER) \
  ((const void*)(uintptr_t)(procedure) == (const void*)(uintptr_t)ASHLAR_F_MANGLE(mpi_##lower, MPI_##UPPER))
f_procedure ASHLAR_F_MANGLE(mpi_conversion_fn_null, MPI_CONVERSION_FN_NULL);
f_procedure ASHLAR_F_MANGLE(mpi_conversion_fn_null_c, MPI_CONVERSION_FN_NULL_C);

/* The state of a data representation stays: there is no call that takes one back. */
#define DATAREP(name, NAME, suffix, SUFFIX)                                                                           \
  void F_PROC(name, NAME)(char* datarep, f_procedure* read, f_procedure* write, f_procedure* extent, MPI_Aint* state, \
                          f_int* ierror, f_length length) {                                                           \
    int code = MPI_SUCCESS;                                                                                           \
    struct f_datarep* const of = malloc(sizeof *of);                                                                  \
    F_STRING(c_datarep, datarep, length, F_END);                                                                      \
    if (!of) code = MPI_ERR_NO_MEM;                                                                                   \
    if (code == MPI_SUCCESS) {                                                                                        \
      *of = (struct f_datarep){read, write, extent, *state};                                                          \
      const int reads = !F_NULL_CONVERSION(read, conversion_fn_null##suffix, CONVERSION_FN_NULL##SUFFIX);             \
      const int writes = !F_NULL_CONVERSION(write, conversion_fn_null##suffix, CONVERSION_FN_NULL##SUFFIX);           \
      code = F_CALL(MPI_Register_datarep##suffix)(c_datarep, reads ? f_datarep_read##suffix : NULL,                   \
                                                  writes ? f_datarep_write##suffix : NULL, f_datarep_extent, of);     \
    }                                                                                                                 \
    if (code != MPI_SUCCESS) free(of);                                                                                \
    F_LEAVE(c_datarep);                                                                                               \
    f_return(ierror, code);                                                                                           \
  }
DATAREP(register_datarep, REGISTER_DATAREP, , )
DATAREP(register_datarep_c_f08, REGISTER_DATAREP_C_F08, _c, _C)
F_ALIAS(F_PROC(register_datarep_f08, REGISTER_DATAREP_F08), F_PROC(register_datarep, REGISTER_DATAREP));

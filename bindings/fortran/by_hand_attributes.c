/* Keyvals and attributes in Fortran. Compiled twice, as the generated entry points are. */
#include <stdlib.h>

#include "attributes.h"
#include "handles.h"

static struct f_keyval* keyval_of(f_procedure* copy, f_procedure* erase, enum f_width width, MPI_Aint state,
                                  int* code) {
  struct f_keyval* const made = malloc(sizeof *made);
  if (made)
    *made = (struct f_keyval){copy, erase, width, state, NULL};
  else
    *code = MPI_ERR_NO_MEM;
  return made;
}

static void made(struct f_keyval* of, int keyval, int code) {
  if (code == MPI_SUCCESS)
    f_keyval_made(keyval, of);
  else
    free(of);
}

#define KEYVALS(lower, UPPER, Name, object)                                                                            \
  void F_PROC(lower##_create_keyval, UPPER##_CREATE_KEYVAL)(f_procedure * copy, f_procedure * erase, f_int * keyval,   \
                                                            MPI_Aint * state, f_int * ierror) {                        \
    int code = MPI_SUCCESS, c_keyval = MPI_KEYVAL_INVALID;                                                             \
    struct f_keyval* const of = keyval_of(copy, erase, F_ADDRESS, *state, &code);                                      \
    if (of) code = F_CALL(MPI_##Name##_create_keyval)(f_##lower##_copy, f_##lower##_delete, &c_keyval, of);            \
    made(of, c_keyval, code);                                                                                          \
    *keyval = c_keyval;                                                                                                \
    f_return(ierror, code);                                                                                            \
  }                                                                                                                    \
  void F_PROC(lower##_free_keyval, UPPER##_FREE_KEYVAL)(f_int * keyval, f_int * ierror) {                              \
    int c_keyval = F_INT(*keyval);                                                                                     \
    f_keyval_freed(c_keyval);                                                                                          \
    const int code = F_CALL(MPI_##Name##_free_keyval)(&c_keyval);                                                      \
    *keyval = c_keyval;                                                                                                \
    f_return(ierror, code);                                                                                            \
  }                                                                                                                    \
  void F_PROC(lower##_set_attr, UPPER##_SET_ATTR)(f_int * handle, f_int * keyval, MPI_Aint * value, f_int * ierror) {  \
    int code = MPI_SUCCESS;                                                                                            \
    void* const cell = f_cell_for(*value, F_ADDRESS, F_INT(*keyval), "MPI_" #Name "_set_attr", &code);                 \
    if (cell) code = F_CALL(MPI_##Name##_set_attr)(object(*handle), F_INT(*keyval), cell);                             \
    if (code != MPI_SUCCESS) f_cell_free(cell);                                                                        \
    f_return(ierror, code);                                                                                            \
  }                                                                                                                    \
  void F_PROC(lower##_get_attr, UPPER##_GET_ATTR)(f_int * handle, f_int * keyval, MPI_Aint * value, f_logical * flag,  \
                                                  f_int * ierror) {                                                    \
    void* attribute = NULL;                                                                                            \
    int found = 0;                                                                                                     \
    const int code = F_CALL(MPI_##Name##_get_attr)(object(*handle), F_INT(*keyval), &attribute, &found);               \
    if (code == MPI_SUCCESS) {                                                                                         \
      *flag = F_LOGICAL(found);                                                                                        \
      if (found) *value = f_value_of(attribute, F_INT(*keyval));                                                       \
    }                                                                                                                  \
    f_return(ierror, code);                                                                                            \
  }                                                                                                                    \
  F_ALIAS(F_PROC(lower##_create_keyval_f08, UPPER##_CREATE_KEYVAL_F08),                                                \
          F_PROC(lower##_create_keyval, UPPER##_CREATE_KEYVAL));                                                       \
  F_ALIAS(F_PROC(lower##_free_keyval_f08, UPPER##_FREE_KEYVAL_F08), F_PROC(lower##_free_keyval, UPPER##_FREE_KEYVAL)); \
  F_ALIAS(F_PROC(lower##_set_attr_f08, UPPER##_SET_ATTR_F08), F_PROC(lower##_set_attr, UPPER##_SET_ATTR));             \
  F_ALIAS(F_PROC(lower##_get_attr_f08, UPPER##_GET_ATTR_F08), F_PROC(lower##_get_attr, UPPER##_GET_ATTR));
KEYVALS(comm, COMM, Comm, f_comm)
KEYVALS(type, TYPE, Type, f_datatype)
KEYVALS(win, WIN, Win, f_win)

/* The deprecated forms of MPI-1, with values of INTEGER. */
void F_PROC(keyval_create, KEYVAL_CREATE)(f_procedure* copy, f_procedure* erase, f_int* keyval, f_int* state,
                                          f_int* ierror) {
  int code = MPI_SUCCESS, c_keyval = MPI_KEYVAL_INVALID;
  struct f_keyval* const of = keyval_of(copy, erase, F_INTEGER, *state, &code);
  if (of) code = F_CALL_OR(MPI_Keyval_create, MPI_Comm_create_keyval)(f_comm_copy, f_comm_delete, &c_keyval, of);
  made(of, c_keyval, code);
  *keyval = c_keyval;
  f_return(ierror, code);
}

void F_PROC(keyval_free, KEYVAL_FREE)(f_int* keyval, f_int* ierror) {
  int c_keyval = F_INT(*keyval);
  f_keyval_freed(c_keyval);
  const int code = F_CALL_OR(MPI_Keyval_free, MPI_Comm_free_keyval)(&c_keyval);
  *keyval = c_keyval;
  f_return(ierror, code);
}

void F_PROC(attr_put, ATTR_PUT)(f_int* comm, f_int* keyval, f_int* value, f_int* ierror) {
  int code = MPI_SUCCESS;
  void* const cell = f_cell_for(*value, F_INTEGER, F_INT(*keyval), "MPI_Attr_put", &code);
  if (cell) code = F_CALL_OR(MPI_Attr_put, MPI_Comm_set_attr)(f_comm(*comm), F_INT(*keyval), cell);
  if (code != MPI_SUCCESS) f_cell_free(cell);
  f_return(ierror, code);
}

void F_PROC(attr_get, ATTR_GET)(f_int* comm, f_int* keyval, f_int* value, f_logical* flag, f_int* ierror) {
  void* attribute = NULL;
  int found = 0;
  const int code = F_CALL_OR(MPI_Attr_get, MPI_Comm_get_attr)(f_comm(*comm), F_INT(*keyval), &attribute, &found);
  if (code == MPI_SUCCESS) {
    *flag = F_LOGICAL(found);
    if (found) *value = (f_int)f_value_of(attribute, F_INT(*keyval));
  }
  f_return(ierror, code);
}

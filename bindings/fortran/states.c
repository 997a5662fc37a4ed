#include "states.h"

typedef void query(MPI_Aint* state, f_int* status, f_int* ierror);
typedef void release(MPI_Aint* state, f_int* ierror);
typedef void cancel(MPI_Aint* state, f_logical* complete, f_int* ierror);

int f_grequest_query(void* state, MPI_Status* status) {
  struct f_grequest* const of = state;
  f_int f_status[8], ierror = MPI_SUCCESS;
  F_EACH(i, 8) f_status[i] = ((const int*)status)[i];
  ((query*)of->query)(&of->state, f_status, &ierror);
  F_EACH(i, 8)((int*)status)[i] = F_INT(f_status[i]);
  return F_INT(ierror);
}

int f_grequest_free(void* state) {
  struct f_grequest* const of = state;
  f_int ierror = MPI_SUCCESS;
  ((release*)of->release)(&of->state, &ierror);
  free(of);
  return F_INT(ierror);
}

int f_grequest_cancel(void* state, int complete) {
  struct f_grequest* const of = state;
  f_int ierror = MPI_SUCCESS;
  f_logical f_complete = F_LOGICAL(complete);
  ((cancel*)of->cancel)(&of->state, &f_complete, &ierror);
  return F_INT(ierror);
}

typedef void conversion(void* user, f_int* datatype, f_int* count, void* file, MPI_Offset* position, MPI_Aint* state,
                        f_int* ierror);
typedef void conversion_c(void* user, f_int* datatype, MPI_Count* count, void* file, MPI_Offset* position,
                          MPI_Aint* state, f_int* ierror);
typedef void extent_of(f_int* datatype, MPI_Aint* extent, MPI_Aint* state, f_int* ierror);

static int convert(f_procedure* procedure, struct f_datarep* of, void* user, MPI_Datatype type, f_int count, void* file,
                   MPI_Offset position) {
  f_int datatype = f_datatype_int(type), ierror = MPI_SUCCESS;
  ((conversion*)procedure)(user, &datatype, &count, file, &position, &of->state, &ierror);
  return F_INT(ierror);
}

static int convert_c(f_procedure* procedure, struct f_datarep* of, void* user, MPI_Datatype type, MPI_Count count,
                     void* file, MPI_Offset position) {
  f_int datatype = f_datatype_int(type), ierror = MPI_SUCCESS;
  ((conversion_c*)procedure)(user, &datatype, &count, file, &position, &of->state, &ierror);
  return F_INT(ierror);
}

int f_datarep_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  struct f_datarep* const of = state;
  return convert(of->read, of, user, type, count, file, position);
}
int f_datarep_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  struct f_datarep* const of = state;
  return convert(of->write, of, user, type, count, file, position);
}
int f_datarep_read_c(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* state) {
  struct f_datarep* const of = state;
  return convert_c(of->read, of, user, type, count, file, position);
}
int f_datarep_write_c(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* state) {
  struct f_datarep* const of = state;
  return convert_c(of->write, of, user, type, count, file, position);
}

int f_datarep_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  struct f_datarep* const of = state;
  f_int datatype = f_datatype_int(type), ierror = MPI_SUCCESS;
  ((extent_of*)of->extent)(&datatype, extent, &of->state, &ierror);
  return F_INT(ierror);
}

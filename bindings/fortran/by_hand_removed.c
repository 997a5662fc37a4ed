/* Names of MPI-1 that later versions removed, for mpif.h: over the procedures that replaced them, because other
 * libraries do not have them. Compiled twice, as the generated entry points are.
 *
 * Addresses and extents are INTEGER here. One that does not fit is an error: MPI-1 has no other way to say it. */
#include "arrays.h"
#include "callbacks.h"
#include "complain.h"

static int too_large(const char* call, const char* instead) {
  return f_complain(
      MPI_COMM_NULL, MPI_WIN_NULL, MPI_ERR_ARG,
      "%s: an address or extent does not fit into an INTEGER of %d bytes; %s takes INTEGER(KIND=MPI_ADDRESS_KIND)",
      call, ASHLAR_F_INT, instead);
}

static int store(f_int* to, MPI_Aint value, int code, const char* call, const char* instead) {
  if (code != MPI_SUCCESS) return code;
  *to = (f_int)value;
  return *to == value ? code : too_large(call, instead);
}

void F_PROC(address, ADDRESS)(void* location, f_int* address, f_int* ierror) {
  MPI_Aint c_address = 0;
  const int code = F_CALL(MPI_Get_address)(f_address(location), &c_address);
  f_return(ierror, store(address, c_address, code, "MPI_Address", "MPI_Get_address"));
}

void F_PROC(type_extent, TYPE_EXTENT)(f_int* datatype, f_int* extent, f_int* ierror) {
  MPI_Aint lower = 0, c_extent = 0;
  const int code = F_CALL(MPI_Type_get_extent)(f_datatype(*datatype), &lower, &c_extent);
  f_return(ierror, store(extent, c_extent, code, "MPI_Type_extent", "MPI_Type_get_extent"));
}

void F_PROC(type_lb, TYPE_LB)(f_int* datatype, f_int* bound, f_int* ierror) {
  MPI_Aint lower = 0, extent = 0;
  const int code = F_CALL(MPI_Type_get_extent)(f_datatype(*datatype), &lower, &extent);
  f_return(ierror, store(bound, lower, code, "MPI_Type_lb", "MPI_Type_get_extent"));
}

void F_PROC(type_ub, TYPE_UB)(f_int* datatype, f_int* bound, f_int* ierror) {
  MPI_Aint lower = 0, extent = 0;
  const int code = F_CALL(MPI_Type_get_extent)(f_datatype(*datatype), &lower, &extent);
  f_return(ierror, store(bound, lower + extent, code, "MPI_Type_ub", "MPI_Type_get_extent"));
}

void F_PROC(type_hvector, TYPE_HVECTOR)(f_int* count, f_int* blocklength, f_int* stride, f_int* oldtype, f_int* newtype,
                                        f_int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int code =
      F_CALL(MPI_Type_create_hvector)(F_INT(*count), F_INT(*blocklength), *stride, f_datatype(*oldtype), &made);
  *newtype = f_datatype_int(made);
  f_return(ierror, code);
}

void F_PROC(type_hindexed, TYPE_HINDEXED)(f_int* count, f_int* lengths, f_int* displacements, f_int* oldtype,
                                          f_int* newtype, f_int* ierror) {
  int code = MPI_SUCCESS;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  F_INTS_IN(c_lengths, lengths, F_INT(*count), F_NONE);
  F_ROOM(MPI_Aint, c_displacements, F_INT(*count));
  F_EACH(i, n_c_displacements) c_displacements[i] = displacements[i];
  if (code == MPI_SUCCESS)
    code = F_CALL(MPI_Type_create_hindexed)(F_INT(*count), c_lengths, c_displacements, f_datatype(*oldtype), &made);
  *newtype = f_datatype_int(made);
  F_INTS_LEAVE(c_lengths);
  F_LEAVE(c_displacements);
  f_return(ierror, code);
}

void F_PROC(type_struct, TYPE_STRUCT)(f_int* count, f_int* lengths, f_int* displacements, f_int* types, f_int* newtype,
                                      f_int* ierror) {
  int code = MPI_SUCCESS;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  F_INTS_IN(c_lengths, lengths, F_INT(*count), F_NONE);
  F_ROOM(MPI_Aint, c_displacements, F_INT(*count));
  F_EACH(i, n_c_displacements) c_displacements[i] = displacements[i];
  F_ROOM(MPI_Datatype, c_types, F_INT(*count));
  F_EACH(i, n_c_types) c_types[i] = f_datatype(types[i]);
  if (code == MPI_SUCCESS)
    code = F_CALL(MPI_Type_create_struct)(F_INT(*count), c_lengths, c_displacements, c_types, &made);
  *newtype = f_datatype_int(made);
  F_INTS_LEAVE(c_lengths);
  F_LEAVE(c_displacements);
  F_LEAVE(c_types);
  f_return(ierror, code);
}

void F_PROC(errhandler_create, ERRHANDLER_CREATE)(f_procedure* procedure, f_int* errhandler, f_int* ierror) {
  int code = MPI_SUCCESS;
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  MPI_Comm_errhandler_function* const function = f_comm_handler(procedure, "MPI_Errhandler_create", &code);
  if (function) code = F_CALL(MPI_Comm_create_errhandler)(function, &made);
  *errhandler = f_errhandler_int(made);
  f_return(ierror, code);
}

void F_PROC(errhandler_set, ERRHANDLER_SET)(f_int* comm, f_int* errhandler, f_int* ierror) {
  f_return(ierror, F_CALL(MPI_Comm_set_errhandler)(f_comm(*comm), f_errhandler(*errhandler)));
}

void F_PROC(errhandler_get, ERRHANDLER_GET)(f_int* comm, f_int* errhandler, f_int* ierror) {
  MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
  const int code = F_CALL(MPI_Comm_get_errhandler)(f_comm(*comm), &c_errhandler);
  *errhandler = f_errhandler_int(c_errhandler);
  f_return(ierror, code);
}

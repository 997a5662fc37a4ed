/* The C side of registered.F90: an INTEGER of a size that the flavour does not have. */
#include <mpi.h>

void c_registers(void);

void c_registers(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_integer_size", "8");
  MPI_Info_set(info, "mpi_logical_size", "8");
  MPI_Abi_set_fortran_info(info);
  MPI_Info_free(&info);
}

#ifndef ASHLAR_FORTRAN_GLUE_H
#define ASHLAR_FORTRAN_GLUE_H
/* What the generated glue between mpi_f08 and the C interface is made of. Uses public MPI names only, so that it works
 * over any library with the standard ABI. */
#include <ISO_Fortran_binding.h>
#include <mpi.h>

/* A Fortran choice buffer as C sees it: an address, and the count and datatype that describe its elements. A section
 * that is not contiguous is described by a datatype, made for the call and freed by close_section(). */
struct section {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
  int made;
};

/* Fails with MPI_ERR_BUFFER for a non-contiguous section whose elements `count` and `type` do not describe exactly. */
int open_section(const CFI_cdesc_t* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm, struct section* out);
void close_section(struct section* section);
/* The address of a contiguous buffer; NULL with *code set otherwise. */
void* contiguous_address(const CFI_cdesc_t* buffer, MPI_Comm comm, int* code);

/* `count` datatype handles as C has them, freed by free(); NULL when `count` is 0 or memory is gone. */
MPI_Datatype* datatypes_from_ints(const int* handles, int count);
/* How many ranks the arguments of a collective on `comm` name. */
int peers_of(MPI_Comm comm);

/* A C reduction function that calls a Fortran one; NULL when all are in use. */
typedef void fortran_user_function(void* invec, void* inoutvec, int* len, int* datatype);
MPI_User_function* user_function_for(fortran_user_function* function);

/* The variables behind MPI_BOTTOM and MPI_IN_PLACE in Fortran; only their addresses count. */
extern int ashlar_f08_bottom, ashlar_f08_in_place;

#endif

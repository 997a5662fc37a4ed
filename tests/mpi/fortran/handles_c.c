/* The C side of handles.F90. */
#include <mpi.h>
#include <stddef.h>

void c_starts(void);
void c_makes(int* comm, int* datatype, int* request, int* buffer);
int c_knows(const int* comm, const int* datatype, const int* group, const int* request);

void c_starts(void) { MPI_Init(NULL, NULL); }

void c_makes(int* comm, int* datatype, int* request, int* buffer) {
  MPI_Comm c;
  MPI_Datatype d;
  MPI_Request r;
  MPI_Comm_dup(MPI_COMM_SELF, &c);
  MPI_Type_contiguous(3, MPI_INT32_T, &d);
  MPI_Recv_init(buffer, 1, MPI_INT32_T, 0, 0, c, &r);
  *comm = MPI_Comm_toint(c);
  *datatype = MPI_Type_toint(d);
  *request = MPI_Request_toint(r);
}

/* The number of handles that are not what Fortran made. */
int c_knows(const int* comm, const int* datatype, const int* group, const int* request) {
  const MPI_Comm c = MPI_Comm_fromint(*comm);
  const MPI_Datatype d = MPI_Type_fromint(*datatype);
  const MPI_Group g = MPI_Group_fromint(*group);
  const MPI_Request r = MPI_Request_fromint(*request);
  int size = 0, wrong = 0, flag = 1;
  wrong += MPI_Comm_toint(c) != *comm || MPI_Comm_size(c, &size) != MPI_SUCCESS || size != 1;
  wrong += MPI_Type_toint(d) != *datatype || MPI_Type_size(d, &size) != MPI_SUCCESS || size % 4 != 0;
  wrong += MPI_Group_toint(g) != *group || MPI_Group_size(g, &size) != MPI_SUCCESS || size != 1;
  wrong +=
      MPI_Request_toint(r) != *request || MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
  return wrong;
}

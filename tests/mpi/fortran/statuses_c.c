/* The C side of statuses.F90. */
#include <mpi_fortran.h>
#include <stdlib.h>

void c_ignores_(const MPI_Fint* status, const MPI_Fint* list, const int* expected, int* wrong);
void c_ignores08(const MPI_F08_status* status, const MPI_F08_status* list, const int* expected, int* wrong);
void c_looks(const MPI_F08_status* status, const MPI_Fint* old, const int* source, const int* tag, const int* count,
             int* wrong);
void c_writes(MPI_F08_status* status, MPI_Fint* old);

void c_ignores_(const MPI_Fint* status, const MPI_Fint* list, const int* expected, int* wrong) {
  *wrong += (status == MPI_F_STATUS_IGNORE) != *expected;
  *wrong += (list == MPI_F_STATUSES_IGNORE) != *expected;
}

void c_ignores08(const MPI_F08_status* status, const MPI_F08_status* list, const int* expected, int* wrong) {
  *wrong += (status == MPI_F08_STATUS_IGNORE) != *expected;
  *wrong += (list == MPI_F08_STATUSES_IGNORE) != *expected;
}

static int differs(const MPI_Status* status, int source, int tag, int count) {
  int found = -1;
  MPI_Get_count(status, MPI_INTEGER, &found);
  return status->MPI_SOURCE != source || status->MPI_TAG != tag || status->MPI_ERROR != 77 || found != count;
}

void c_looks(const MPI_F08_status* status, const MPI_Fint* old, const int* source, const int* tag, const int* count,
             int* wrong) {
  MPI_Status from_f08, from_f;
  MPI_F08_status f08;
  MPI_Status_f082c(status, &from_f08);
  MPI_Status_f2c(old, &from_f);
  *wrong += differs(&from_f08, *source, *tag, *count) + differs(&from_f, *source, *tag, *count);
  MPI_Status_f2f08(old, &f08);
  MPI_Status_f082c(&f08, &from_f);
  *wrong += differs(&from_f, *source, *tag, *count);
  *wrong += old[MPI_F_SOURCE] != *source || old[MPI_F_TAG] != *tag || old[MPI_F_ERROR] != 77;
}

void c_writes(MPI_F08_status* status, MPI_Fint* old) {
  MPI_Status c;
  MPI_Recv(NULL, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, &c);
  MPI_Status_set_elements(&c, MPI_INTEGER, 14);
  MPI_Status_set_cancelled(&c, 1);
  c.MPI_SOURCE = 11, c.MPI_TAG = 12, c.MPI_ERROR = 13;
  MPI_Status_c2f08(&c, status);
  MPI_Status_c2f(&c, old);
}

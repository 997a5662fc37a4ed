/* MPI_DATATYPE_NULL where there are no items of it: programs with nothing to send to a neighbour, or none, leave the
 * datatype unset. Of any item it is an error. */
#include "check.h"

enum { kMost = 16 };

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static void point_to_point(int peer) {
  const int from_me = check_rank;
  MPI_Request r[2];
  MPI_Status status;
  MPI_Datatype none = MPI_DATATYPE_NULL;
  int count = -1;
  MUST(MPI_Sendrecv(NULL, 0, none, peer, 1, NULL, 0, none, peer, 1, MPI_COMM_WORLD, &status));
  MUST(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  MUST(MPI_Irecv(NULL, 0, none, peer, 2, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Isend(NULL, 0, none, peer, 2, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  MUST(MPI_Recv_init(NULL, 0, none, peer, 3, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Send_init(NULL, 0, none, peer, 3, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Startall(2, r));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
  /* One side only: the other says what it has none of. */
  MUST(MPI_Irecv(NULL, 0, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Send(NULL, 0, none, peer, 4, MPI_COMM_WORLD));
  MUST(MPI_Wait(&r[0], MPI_STATUS_IGNORE));

  r[0] = (MPI_Request)&status;
  CHECK_EQ(class_of(MPI_Send(&from_me, 1, none, peer, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
  CHECK_EQ(class_of(MPI_Irecv(&count, 1, none, peer, 0, MPI_COMM_WORLD, &r[0])), MPI_ERR_TYPE);
  CHECK(r[0] == MPI_REQUEST_NULL);
  CHECK_EQ(class_of(MPI_Send(NULL, 0, (MPI_Datatype)MPI_SUM, peer, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
}

static void collectives(MPI_Comm comm) {
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Request r;
  MUST(MPI_Bcast(NULL, 0, none, 0, comm));
  MUST(MPI_Gather(NULL, 0, none, NULL, 0, none, 0, comm));
  MUST(MPI_Scatter(NULL, 0, none, NULL, 0, none, 0, comm));
  MUST(MPI_Allgather(NULL, 0, none, NULL, 0, none, comm));
  MUST(MPI_Alltoall(NULL, 0, none, NULL, 0, none, comm));
  MUST(MPI_Iallgather(NULL, 0, none, NULL, 0, none, comm, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  int value = 3;
  CHECK_EQ(class_of(MPI_Bcast(&value, 1, none, 0, comm)), MPI_ERR_TYPE);
}

/* Each rank sends its number to the next one, and nothing of no type to the others. */
static void alltoallw(void) {
  int out_counts[kMost] = {0}, in_counts[kMost] = {0}, places[kMost] = {0}, in = -1;
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  MPI_Datatype out_types[kMost], in_types[kMost];
  MPI_Request r;
  for (int i = 0; i < kMost; i++) out_types[i] = in_types[i] = MPI_DATATYPE_NULL;
  out_counts[next] = in_counts[last] = 1;
  out_types[next] = in_types[last] = MPI_INT;
  MUST(MPI_Alltoallw(&check_rank, out_counts, places, out_types, &in, in_counts, places, in_types, MPI_COMM_WORLD));
  CHECK_EQ(in, last);
  in = -1;
  MUST(
      MPI_Ialltoallw(&check_rank, out_counts, places, out_types, &in, in_counts, places, in_types, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_EQ(in, last);
  const int one = 1; /* of an item it is needed */
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  CHECK_EQ(class_of(MPI_Alltoallw(&check_rank, &one, places, &none, &in, &one, places, &none, MPI_COMM_SELF)),
           MPI_ERR_TYPE);
}

/* The same in a ring, whose ranks send to the right only. */
static void neighbours(void) {
  MPI_Comm ring;
  const int period = 1, out_counts[2] = {0, 1}, in_counts[2] = {1, 0};
  const MPI_Aint places[2] = {0, 0};
  const MPI_Datatype out_types[2] = {MPI_DATATYPE_NULL, MPI_INT}, in_types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  int in = -1;
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &period, 0, &ring));
  MUST(MPI_Neighbor_alltoallw(&check_rank, out_counts, places, out_types, &in, in_counts, places, in_types, ring));
  CHECK_EQ(in, (check_rank + check_size - 1) % check_size);
  const int one[2] = {1, 1};
  int pair[2] = {0, 0};
  CHECK_EQ(class_of(MPI_Neighbor_alltoallw(&check_rank, one, places, out_types, pair, one, places, in_types, ring)),
           MPI_ERR_TYPE);
  MUST(MPI_Comm_free(&ring));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  point_to_point(MPI_PROC_NULL);
  point_to_point(check_rank);
  if (check_size % 2 == 0) point_to_point(check_rank ^ 1);
  collectives(MPI_COMM_WORLD);
  alltoallw();
  neighbours();
  return check_end();
}

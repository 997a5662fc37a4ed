/* Erroneous orders of collectives, as the standard shows them: coll_orders WHICH. Each either hangs or mixes up data
 * under a library that does not look; coll_orders.py says what ours has to say of each. */
#include "check.h"

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* const which = argc > 1 ? argv[1] : "";
  const int rank = check_rank;
  int one = rank, two = rank;
  MPI_Comm comms[3];
  if (strcmp(which, "opposite") == 0) { /* two broadcasts in opposite order */
    MUST(MPI_Bcast(rank == 0 ? &one : &two, 1, MPI_INT, rank == 0 ? 0 : 1, MPI_COMM_WORLD));
    MUST(MPI_Bcast(rank == 0 ? &two : &one, 1, MPI_INT, rank == 0 ? 1 : 0, MPI_COMM_WORLD));
  } else if (strcmp(which, "different") == 0) { /* different collectives */
    if (rank == 1)
      MUST(MPI_Barrier(MPI_COMM_WORLD));
    else
      MUST(MPI_Reduce(&one, &two, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  } else if (strcmp(which, "forms") == 0) { /* a blocking call does not match a nonblocking one */
    MPI_Request request;
    if (rank == 1) {
      MUST(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD));
    } else {
      MUST(MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
  } else if (strcmp(which, "nonblocking") == 0) { /* nonblocking calls are called in the same order as well */
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) {
      if ((rank == 1) == (i == 0))
        MUST(MPI_Iallreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
      else
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]));
    }
    MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  } else if (strcmp(which, "cyclic") == 0) { /* broadcasts on {0, 1}, {1, 2}, {2, 0}, begun by each rank with another */
    for (int i = 0; i < 3; i++)
      MUST(MPI_Comm_split(MPI_COMM_WORLD, rank == (i + 2) % 3 ? MPI_UNDEFINED : 0, rank == i ? 0 : 1, &comms[i]));
    for (int i = 0; i < 3; i++) {
      const MPI_Comm comm = comms[(rank + i) % 3];
      if (comm != MPI_COMM_NULL) MUST(MPI_Bcast(&one, 1, MPI_INT, 0, comm));
    }
  } else if (strcmp(which, "mixed") == 0) { /* a broadcast that need not wait, and a message that does */
    if (rank == 0) {
      MUST(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD));
      MUST(MPI_Send(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else {
      MUST(MPI_Recv(&two, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      MUST(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
  }
  return check_end();
}

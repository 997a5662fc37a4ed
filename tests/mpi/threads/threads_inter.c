/* Collectives of intercommunicators with MPI_THREAD_MULTIPLE, where communicators are dealt to lanes: both groups' own
 * parts of a collective, and whatever follows on the communicators that share a lane with them. */
#include "check.h"

static void all_collectives(MPI_Comm inter, int side, int remote_first) {
  int mine = check_rank, sum = -1, local_size, remote_size;
  static int all[64];
  MUST(MPI_Comm_size(inter, &local_size));
  MUST(MPI_Comm_remote_size(inter, &remote_size));
  MUST(MPI_Barrier(inter));
  MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  int expected = 0;
  for (int r = 0; r < remote_size; r++) expected += remote_first + r;
  CHECK_EQ(sum, expected);
  MUST(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter));
  for (int r = 0; r < remote_size; r++) CHECK_EQ(all[r], remote_first + r);
  /* From the first of each side in turn. */
  for (int from = 0; from < 2; from++) {
    int rank;
    MUST(MPI_Comm_rank(inter, &rank));
    int value = 100 + from, root = side != from ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (side != from) value = -1;
    MUST(MPI_Bcast(&value, 1, MPI_INT, root, inter));
    CHECK_EQ(value, 100 + from);
    MUST(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    if (root == MPI_ROOT)
      for (int r = 0; r < remote_size; r++) CHECK_EQ(all[r], remote_first + r);
    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    if (root == MPI_ROOT) CHECK_EQ(sum, expected);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  const int middle = check_size / 2, side = check_rank >= middle;
  for (int round = 0; round < 12; round++) {
    MPI_Comm half, inter, copy, merged, other;
    MPI_Request request;
    int sum = -1, mine = 1;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : middle, 7, &inter));
    all_collectives(inter, side, side ? 0 : middle);
    MUST(MPI_Comm_idup(inter, &copy, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    all_collectives(copy, side, side ? 0 : middle);
    MUST(MPI_Intercomm_merge(copy, side, &merged));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK_EQ(sum, check_size);
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other));
    CHECK_EQ(sum, check_size);
    MPI_Comm* const made[] = {&half, &inter, &copy, &merged, &other};
    for (int k = 0; k < 5; k++) MUST(MPI_Comm_free(made[(k + round) % 5]));
  }
  MPI_Finalize();
  return check_failures != 0;
}

/* A process sends to one of another job, of which it has heard nothing yet, and frees the communicator at once. */
#include "family.h"

enum { kMessages = 40 };

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  char* arguments[] = {"child", NULL};
  check_start(&argc, &argv);
  MUST(MPI_Comm_get_parent(&parent));
  if (parent == MPI_COMM_NULL) {
    MUST(MPI_Comm_spawn(argv[0], arguments, check_size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                        MPI_ERRCODES_IGNORE));
    for (int i = 0; i < kMessages; i++) MUST(MPI_Send(&i, 1, MPI_INT, check_rank, 1, children));
    MUST(MPI_Comm_free(&children));
    return check_end();
  }
  usleep(200000);
  for (int i = 0; i < kMessages; i++) {
    int got = -1;
    MUST(MPI_Recv(&got, 1, MPI_INT, check_rank, 1, parent, MPI_STATUS_IGNORE));
    CHECK_EQ(got, i);
  }
  MUST(MPI_Comm_free(&parent));
  return check_end();
}

/* Children that spawn. The processes of each of three generations meet their parents and then their children in one
 * communicator, which is used for everything. */
#include "family.h"

enum { kGenerations = 3 };

/* Spawns the next generation, merges it, and returns a communicator of this generation and all below it. */
static MPI_Comm with_descendants(char* program, int generation) {
  MPI_Comm children, below;
  if (generation == kGenerations) {
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &below));
    return below;
  }
  char number[16];
  snprintf(number, sizeof number, "%d", generation + 1);
  char* arguments[] = {number, NULL};
  MUST(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
  greet(children);
  MUST(MPI_Intercomm_merge(children, 0, &below));
  MUST(MPI_Comm_disconnect(&children));
  return below;
}

int main(int argc, char** argv) {
  MPI_Comm parent, family, below;
  check_start(&argc, &argv);
  MUST(MPI_Comm_get_parent(&parent));
  const int generation = argc > 1 ? atoi(argv[1]) : 0;
  CHECK_EQ(parent == MPI_COMM_NULL, generation == 0);
  int first = 0, size = 0;
  if (generation > 0) {
    greet(parent);
    MUST(MPI_Intercomm_merge(parent, 1, &family));
    MUST(MPI_Comm_disconnect(&parent));
    use_everything(family);
    MUST(MPI_Comm_disconnect(&family));
  }
  below = with_descendants(argv[0], generation);
  MUST(MPI_Comm_size(below, &size));
  MUST(MPI_Comm_rank(below, &first));
  CHECK_EQ(size, check_size + (generation < kGenerations ? 2 : 0));
  CHECK_EQ(first, check_rank);
  if (generation < kGenerations) use_everything(below);
  MUST(MPI_Comm_disconnect(&below));
  return check_end();
}

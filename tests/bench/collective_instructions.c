/* Allreduces of 8 bytes by two ranks of which rank 0 comes late each time, so that it never waits: for counting its
 * instructions, as README.md says.
 *
 *   collective_instructions [CALLS [MILLISECONDS late]] */
#include <time.h>

#include "bench.h"

int main(int argc, char** argv) {
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 200;
  double mine = rank, sum = 0;
  for (int i = 0; i < calls; i++) {
    const struct timespec late = {0, (argc > 2 ? atol(argv[2]) : 3) * 1000000};
    if (rank == 0) nanosleep(&late, NULL);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0 && sum != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}

/* Makes, commits and frees an indexed datatype of 10,000 blocks once, for counting instructions from outside:
 *   valgrind --tool=callgrind --toggle-collect='MPI_Type_commit' commit      (PMPI_ where MPI_ is its alias)
 * A number as argument says how many times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  enum { kBlocks = 10000 };
  static int lengths[kBlocks], places[kBlocks];
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < kBlocks; i++) {
    lengths[i] = 1 + i % 3;
    places[i] = 5 * i + i % 2;
  }
  double best = 1e9;
  for (int i = 0; i < times; i++) {
    MPI_Datatype type;
    MPI_Type_indexed(kBlocks, lengths, places, MPI_DOUBLE, &type);
    const double start = MPI_Wtime();
    MPI_Type_commit(&type);
    const double took = MPI_Wtime() - start;
    if (took < best) best = took;
    MPI_Type_free(&type);
  }
  printf("commit indexed blocks %d us %.3f\n", kBlocks, best * 1e6);
  return MPI_Finalize();
}

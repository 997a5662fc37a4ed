/* Nothing but init and finalize; tests/bench/compare times the whole launch. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}

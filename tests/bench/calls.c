/* What a watched call costs: nanoseconds of calls that do next to nothing. Run it without and with a tool, as
 *
 *   mpiexec -n 1 calls;  mpiexec --trace=run.html -n 1 calls;  mpiexec --summary -n 1 calls
 *
 * and the difference is the tool's, wrapper included. */
#include "bench.h"

enum { kCalls = 20000 };

static void send_null(void) {
  char byte = 0;
  MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}
static void receive_null(void) {
  char byte = 0;
  MPI_Recv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void barrier_self(void) { MPI_Barrier(MPI_COMM_SELF); }
static void wait_null(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  void (*call)(void);
} kRows[] = {{"send to MPI_PROC_NULL", send_null},
             {"receive from MPI_PROC_NULL", receive_null},
             {"barrier on MPI_COMM_SELF", barrier_self},
             {"wait for MPI_REQUEST_NULL", wait_null}};

int main(int argc, char** argv) {
  int rank, size;
  bench_start(&argc, &argv, 1, &rank, &size);
  for (size_t row = 0; row < sizeof kRows / sizeof *kRows; ++row) {
    double batch[kBatches];
    for (int b = -1; b < kBatches; ++b) {
      const double begin = MPI_Wtime();
      for (int i = 0; i < kCalls; ++i) kRows[row].call();
      if (b >= 0) batch[b] = (MPI_Wtime() - begin) / kCalls * 1e9;
    }
    printf("%s ns %.1f\n", kRows[row].name, bench_median(batch, kBatches));
  }
  MPI_Finalize();
  return 0;
}

/* Overlap of large messages and work. One rank starts an operation, works for as long as a message at 4 GB/s would
 * take, and waits; its partner waits all the time. Printed is the time until both are done, beside the message and the
 * work alone: the larger of the two is the least there can be, their sum what there is without overlap. `overlap work
 * bytes 1048576 us 262`, and likewise `message`; `send`: the sender works; `receive`: the receiver; `both`: both of
 * them. */
#include "bench.h"

enum { kTag = 5, kRounds = 20 };
enum Who { kSender = 1, kReceiver = 2 };

static volatile double sink;

static void work(long amount) {
  double x = 1;
  for (long i = 0; i < amount; i++) x = x * 0.999999 + 1e-7;
  sink = x;
}

/* One message from rank 0 to rank 1; who is named works meanwhile. The time until both are done, in seconds. */
static double once(char* buffer, int bytes, int rank, int who, long amount) {
  MPI_Request r;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Isend(buffer, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &r);
    if (who & kSender) work(amount);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(buffer, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &r);
    if (who & kReceiver) work(amount);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

static double median_of(char* buffer, int bytes, int rank, int who, long amount) {
  double times[kRounds];
  once(buffer, bytes, rank, who, amount);
  for (int i = 0; i < kRounds; i++) times[i] = once(buffer, bytes, rank, who, amount);
  return bench_median(times, kRounds);
}

static double work_alone(long amount) {
  double times[kRounds];
  for (int i = 0; i < kRounds; i++) {
    const double start = MPI_Wtime();
    work(amount);
    times[i] = MPI_Wtime() - start;
  }
  return bench_median(times, kRounds);
}

int main(int argc, char** argv) {
  static const long usual[] = {65536, 1048576, 4194304, -1};
  static const char* const kNames[] = {"message", "send", "receive", "both"};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int count = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < count; s++) {
    char* buffer = bench_alloc((size_t)sizes[s]);
    const int bytes = (int)sizes[s];
    const double microseconds = (double)bytes / 4000;
    const long amount = (long)(microseconds * 1e-6 / work_alone(1000000) * 1e6) + 1;
    const double alone = work_alone(amount);
    if (rank == 0) printf("overlap work bytes %ld us %.1f\n", sizes[s], alone * 1e6);
    for (int who = 0; who <= (kSender | kReceiver); who++) {
      const double together = median_of(buffer, bytes, rank, who, amount);
      if (rank == 0) printf("overlap %s bytes %ld us %.1f\n", kNames[who], sizes[s], together * 1e6);
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}

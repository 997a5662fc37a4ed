/* Overlap of large messages and work. One rank starts an operation, works for about as long as the message alone takes,
 * and waits; its partner waits all the time. Printed is the share of the message's time that the work hid, in percent:
 * 100 when the two took no longer than the longer of them alone, 0 when they took as long as both one after the other.
 * `overlap send bytes 1048576 % 80`: the sender works; `receive`: the receiver; `both`: both of them. */
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
  static const char* const kNames[] = {"send", "receive", "both"};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int count = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < count; s++) {
    char* buffer = bench_alloc((size_t)sizes[s]);
    const int bytes = (int)sizes[s];
    const double message = median_of(buffer, bytes, rank, 0, 0);
    const double per_million = work_alone(1000000);
    long amount = (long)(message / per_million * 1e6) + 1;
    MPI_Bcast(&amount, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const double alone = work_alone(amount);
    const double least = alone > message ? alone : message, most = alone + message;
    for (int who = kSender; who <= (kSender | kReceiver); who++) {
      const double together = median_of(buffer, bytes, rank, who, amount);
      if (rank == 0)
        printf("overlap %s bytes %ld %% %.0f\n", kNames[who - 1], sizes[s], 100 * (most - together) / (most - least));
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}

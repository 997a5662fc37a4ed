/* One process floods another with nonblocking sends, most of which wait for room at first. The other has threads, and
 * meanwhile only sends on its first lane: what it keeps stays within p2p.unexpected_limit (64 KiB in this test, and a
 * record for each message announced beyond that), whichever lane it is for. The argument of the flooding rank is
 * "flood". */
#include <sys/resource.h>

#include "check.h"

enum { kComms = 8, kMessages = 6000, kBytes = 3500, kSends = 20000 };

static long peak_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char** argv) {
  const int floods = argc > 1;
  static char message[kBytes];
  int level, value = 0, ready = 0;
  MPI_Comm comms[kComms];
  MUST(MPI_Init_thread(&argc, &argv, floods ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level));
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  for (int i = 0; i < kComms; i++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  if (floods) {
    MPI_Request* const requests = malloc(sizeof *requests * kMessages);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < kMessages; i++)
      MUST(MPI_Isend(message, kBytes, MPI_CHAR, 1, 3, comms[i % kComms], &requests[i]));
    for (int i = 0; i < kSends; i++) MUST(MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE));
    free(requests);
  } else {
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    const long before = peak_kilobytes();
    for (ready = 0; ready < kSends; ready++) {
      const double until = MPI_Wtime() + 20e-6; /* so that its sends find room */
      while (MPI_Wtime() < until) continue;
      MUST(MPI_Send(&ready, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
    }
    const long grown = peak_kilobytes() - before;
    CHECK(grown < kMessages / 1024 * kBytes / 4, "%ld KiB", grown);
    for (int i = 0; i < kMessages; i++)
      MUST(MPI_Recv(message, kBytes, MPI_CHAR, 0, 3, comms[i % kComms], MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < kComms; i++) MUST(MPI_Comm_free(&comms[i]));
  MUST(MPI_Finalize());
  return check_failures != 0;
}

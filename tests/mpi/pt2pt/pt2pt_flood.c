/* Ranks that send faster than rank 0 receives are held back: the job ends well, and rank 0's memory stays bounded
 * although far more than that is on its way to it. */
#include <unistd.h>

#include "check.h"

enum { kBytes = 4000, kTotal = 200 << 20 };

static long resident_kib(void) {
  char line[256];
  long kib = 0;
  FILE* f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "RssAnon: %ld", &kib) == 1) break;
  if (f) fclose(f);
  return kib;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int senders = check_size - 1;
  const int each = senders > 0 ? kTotal / kBytes / senders : 0;
  unsigned char* message = check_alloc(kBytes);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank != 0) {
    for (int i = 0; i < each; i++) {
      memset(message, i & 255, kBytes);
      memcpy(message, &i, sizeof i);
      MUST(MPI_Send(message, kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    }
    MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
  } else {
    const long before = resident_kib();
    int flag = 0;
    /* Looking for another message makes the library take in what has come, without receiving any of it. */
    const double start = MPI_Wtime();
    while (senders > 0 && MPI_Wtime() - start < 1.0) {
      MUST(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
      usleep(100);
    }
    const long grown = resident_kib() - before;
    CHECK(grown < (long)senders * 16 * 1024 + 32 * 1024, "%ld KiB of unexpected messages were taken in", grown);
    int* next = calloc((size_t)check_size, sizeof *next);
    for (int k = 0; k < each * senders; k++) {
      MPI_Status s;
      int number;
      MUST(MPI_Recv(message, kBytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s));
      memcpy(&number, message, sizeof number);
      CHECK_EQ(number, next[s.MPI_SOURCE]);
      CHECK_EQ(message[kBytes - 1], number & 255);
      next[s.MPI_SOURCE]++;
    }
    for (int k = 0; k < senders; k++)
      MUST(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    free(next);
  }
  free(message);
  return check_end();
}

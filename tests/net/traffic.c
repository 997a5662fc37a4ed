/* Messages of many sizes between all ranks, with their content checked. With "wait" as its argument rank 0 then waits
 * for a message that never comes, from the last rank, which sleeps. */
#include <string.h>
#include <unistd.h>

#include "check.h"

static void exchange(int with, int bytes) {
  unsigned char* const out = check_alloc((size_t)bytes + 1);
  unsigned char* const in = check_alloc((size_t)bytes + 1);
  for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 7 + check_rank + bytes);
  MUST(MPI_Sendrecv(out, bytes, MPI_BYTE, with, 1, in, bytes, MPI_BYTE, with, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  int wrong = 0;
  for (int i = 0; i < bytes; i++) wrong += in[i] != (unsigned char)(i * 7 + with + bytes);
  CHECK_EQ(wrong, 0);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 1, 8, 1000, 1025, 40000, 65536, 65537, 300000, 5000000};
  check_start(&argc, &argv);
  /* The number of ranks is a power of two. */
  for (int step = 1; step < check_size; step++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) exchange(check_rank ^ step, sizes[s]);
  int sum = 0;
  MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size * (check_size - 1) / 2);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    printf("ready\n");
    fflush(stdout);
    if (check_rank == 0) MUST(MPI_Recv(&sum, 1, MPI_INT, check_size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (check_rank != 0) pause();
  }
  return check_end();
}

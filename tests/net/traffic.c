/* Messages of many sizes between all ranks, with their content checked. With "wait" as its argument rank 0 then waits
 * for a message that never comes, from the last rank, which sleeps. With "flow SECONDS" ranks 0 and 1 go on for so
 * long: rows of numbered messages in both directions at one time, large ones among them; every byte is checked. */
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

enum { kRow = 40, kKinds = 5, kLargest = 700000 };

/* A row of messages each way. Their order, sizes and content are checked. */
static void row(int with, unsigned number) {
  static const int sizes[kKinds] = {0, 16, 900, 20000, kLargest};
  static unsigned char *out[kRow], *in[kRow];
  MPI_Request requests[2 * kRow];
  MPI_Status statuses[2 * kRow];
  for (int i = 0; i < kRow; i++) {
    const int bytes = sizes[(i * 7 + (int)number) % kKinds];
    if (out[i] == NULL) out[i] = check_alloc(kLargest + 1);
    if (in[i] == NULL) in[i] = check_alloc(kLargest + 1);
    MUST(MPI_Irecv(in[i], kLargest + 1, MPI_BYTE, with, 3, MPI_COMM_WORLD, &requests[i]));
    pattern_fill(out[i], (size_t)bytes, number * kRow + (unsigned)i);
    MUST(MPI_Isend(out[i], bytes, MPI_BYTE, with, 3, MPI_COMM_WORLD, &requests[kRow + i]));
  }
  MUST(MPI_Waitall(2 * kRow, requests, statuses));
  for (int i = 0; i < kRow; i++) {
    const int bytes = sizes[(i * 7 + (int)number) % kKinds];
    int got = -1;
    MUST(MPI_Get_count(&statuses[i], MPI_BYTE, &got));
    CHECK_EQ(got, bytes);
    CHECK_PATTERN(in[i], (size_t)bytes, number * kRow + (unsigned)i);
    memset(in[i], 0, (size_t)bytes);
  }
}

static void flow(double seconds) {
  const double end = MPI_Wtime() + seconds;
  int more = 1;
  unsigned number = 0;
  for (; more; number++) {
    row(1 - check_rank, number);
    if (check_rank == 0) more = MPI_Wtime() < end;
    MUST(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  if (check_rank == 0) printf("rows %u\n", number);
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
  if (argc > 2 && strcmp(argv[1], "flow") == 0) {
    printf("ready\n");
    fflush(stdout);
    flow(atof(argv[2]));
  }
  return check_end();
}

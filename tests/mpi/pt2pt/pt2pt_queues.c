/* Long queues: 100,000 receives posted and 100,000 unexpected messages, matched from the far end. What a
 * match costs must not depend on how many there are: this ends at once or not at all. Wildcards see the oldest first.
 */
#include "check.h"

enum { kMany = 100000 };

static int* values;
static MPI_Request* requests;

static void posted(int right, int left) {
  for (int i = 0; i < kMany; i++) {
    values[i] = -1;
    MUST(MPI_Irecv(&values[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = kMany - 1; i >= 0; i--) MUST(MPI_Send(&i, 1, MPI_INT, right, i, MPI_COMM_WORLD));
  MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; i++) CHECK_EQ(values[i], i);
}

static void unexpected(int right, int left) {
  int x;
  MPI_Status s;
  for (int i = 0; i < kMany; i++) {
    values[i] = i;
    MUST(MPI_Isend(&values[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]));
  }
  MUST(MPI_Probe(left, kMany - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* so all are there */
  for (int i = kMany - 1; i >= kMany / 2; i--) {
    MUST(MPI_Recv(&x, 1, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(x, i);
  }
  for (int i = 0; i < kMany / 2; i++) {
    MUST(MPI_Recv(&x, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    CHECK(x == i && s.MPI_TAG == i, "%d, tag %d instead of %d", x, s.MPI_TAG, i);
  }
  MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  values = check_alloc(kMany * sizeof *values);
  requests = check_alloc(kMany * sizeof *requests);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  posted(right, left);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  unexpected(right, left);
  free(values);
  free(requests);
  return check_end();
}

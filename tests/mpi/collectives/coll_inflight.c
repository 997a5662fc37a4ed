/* Several collectives under way at once, on one communicator and several, among point-to-point traffic with wildcards
 * pending; started in one order, completed in another. */
#include "coll.h"

enum { kCount = 400 };

/* One of each kind, all in flight together. */
static void one_of_each(Team t, int largest) {
  const size_t n = (size_t)t.size;
  const int c = largest;
  int* bcast = check_alloc((size_t)c * sizeof(int));
  int* sum = check_alloc((size_t)c * sizeof(int));
  int* mine = check_alloc((size_t)c * sizeof(int));
  int* maximum = check_alloc((size_t)c * sizeof(int));
  int* gathered = check_alloc((size_t)c * n * sizeof(int));
  int* everything = check_alloc((size_t)c * n * sizeof(int));
  int* scattered = check_alloc((size_t)c * sizeof(int));
  int* blocks = check_alloc((size_t)c * n * sizeof(int));
  int* exchanged = check_alloc((size_t)c * n * sizeof(int));
  const int last = t.size - 1;
  for (int i = 0; i < c; i++) {
    mine[i] = element(t.rank, i, 3);
    bcast[i] = t.rank == last ? i : -1;
  }
  for (int r = 0; r < t.size; r++)
    for (int i = 0; i < c; i++) blocks[r * c + i] = r * 1000 + i + t.rank * 100000;
  MPI_Request r[8];
  MUST(MPI_Ibcast(bcast, c, MPI_INT, last, t.comm, &r[0]));
  MUST(MPI_Iallreduce(mine, sum, c, MPI_INT, MPI_SUM, t.comm, &r[1]));
  MUST(MPI_Ibarrier(t.comm, &r[2]));
  MUST(MPI_Igather(mine, c, MPI_INT, gathered, c, MPI_INT, last, t.comm, &r[3]));
  MUST(MPI_Iscatter(blocks, c, MPI_INT, scattered, c, MPI_INT, 0, t.comm, &r[4]));
  MUST(MPI_Iallgather(mine, c, MPI_INT, everything, c, MPI_INT, t.comm, &r[5]));
  MUST(MPI_Ialltoall(blocks, c, MPI_INT, exchanged, c, MPI_INT, t.comm, &r[6]));
  MUST(MPI_Ireduce(mine, maximum, c, MPI_INT, MPI_MAX, 0, t.comm, &r[7]));
  /* Every rank completes them in another order. */
  for (int k = 0; k < 8; k++) {
    MPI_Request* request = &r[(k * (t.rank % 2 ? 5 : 3) + t.rank) % 8];
    MUST(MPI_Wait(request, MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < c; i++) {
    int should_sum = 0, should_max = 0;
    for (int k = 0; k < t.size; k++) {
      const int e = element(k, i, 3);
      should_sum += e;
      should_max = e > should_max ? e : should_max;
      CHECK(everything[k * c + i] == e, "allgather: block %d, element %d", k, i);
      CHECK(t.rank != last || gathered[k * c + i] == e, "gather: block %d, element %d", k, i);
      CHECK(exchanged[k * c + i] == t.rank * 1000 + i + k * 100000, "alltoall: block %d, element %d", k, i);
    }
    CHECK(bcast[i] == i, "bcast: element %d", i);
    CHECK(sum[i] == should_sum, "allreduce: element %d", i);
    CHECK(scattered[i] == t.rank * 1000 + i, "scatter: element %d", i);
    CHECK(t.rank != 0 || maximum[i] == should_max, "reduce: element %d", i);
  }
  free(bcast), free(sum), free(mine), free(maximum), free(gathered), free(everything), free(scattered), free(blocks);
  free(exchanged);
}

/* Many of one kind: each must keep to its own. */
static void many_of_one(Team t) {
  enum { kMany = 60 };
  MPI_Request r[kMany];
  long in[kMany], out[kMany];
  int root[kMany];
  for (int k = 0; k < kMany; k++) {
    in[k] = t.rank + k * 1000;
    root[k] = t.rank == k % t.size ? k : -1;
    if (k % 2)
      MUST(MPI_Iallreduce(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, t.comm, &r[k]));
    else
      MUST(MPI_Ibcast(&root[k], 1, MPI_INT, k % t.size, t.comm, &r[k]));
  }
  MUST(MPI_Waitall(kMany, r, MPI_STATUSES_IGNORE));
  for (int k = 0; k < kMany; k++) {
    if (k % 2)
      CHECK_EQ(out[k], (long)k * 1000 * t.size + (long)t.size * (t.size - 1) / 2);
    else
      CHECK_EQ(root[k], k);
  }
}

/* Wildcard receives of the user never see what collectives send, nor the other way round. */
static void among_messages(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int got[10], sent[10], sum = 0;
  MPI_Request r[21];
  MPI_Status s[21];
  for (int i = 0; i < 10; i++) {
    sent[i] = check_rank * 100 + i;
    MUST(MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]));
  }
  for (int k = 0; k < 50; k++) {
    MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
  }
  MUST(MPI_Ibarrier(MPI_COMM_WORLD, &r[20]));
  for (int i = 0; i < 10; i++) MUST(MPI_Isend(&sent[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &r[10 + i]));
  MUST(MPI_Waitall(21, r, s));
  for (int i = 0; i < 10; i++) {
    CHECK_EQ(got[i], left * 100 + i);
    CHECK_EQ(s[i].MPI_TAG, i);
  }
}

/* The same ranks in several communicators, each with a reduction under way, waited for in reverse. */
static void several_communicators(void) {
  enum { kComms = 6 };
  MPI_Comm comm[kComms];
  MPI_Request r[kComms];
  int result[kComms], mine[kComms];
  for (int k = 0; k < kComms; k++) {
    if (k % 2)
      MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]));
    else
      MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % (k + 1), check_rank, &comm[k]));
  }
  for (int k = 0; k < kComms; k++) {
    mine[k] = 1 << k;
    MUST(MPI_Iallreduce(&mine[k], &result[k], 1, MPI_INT, MPI_SUM, comm[k], &r[k]));
  }
  for (int k = kComms - 1; k >= 0; k--) {
    int size;
    MUST(MPI_Wait(&r[k], MPI_STATUS_IGNORE));
    MUST(MPI_Comm_size(comm[k], &size));
    CHECK_EQ(result[k], size << k);
    MUST(MPI_Comm_free(&comm[k]));
  }
}

/* A nonblocking collective gets on while the program waits for something else. */
static void progress_elsewhere(void) {
  enum { kLarge = 50000 };
  static double mine[kLarge], sum[kLarge];
  int token = 0, got = -1;
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MPI_Request r;
  for (int i = 0; i < kLarge; i++) mine[i] = i + check_rank;
  MUST(MPI_Iallreduce(mine, sum, kLarge, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
  for (int k = 0; k < 20; k++, token++)
    MUST(MPI_Sendrecv(&token, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 19);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  for (int i = 0; i < kLarge; i++)
    if (sum[i] != (double)check_size * i + check_size * (check_size - 1) / 2) {
      CHECK(0, "element %d is %g", i, sum[i]);
      break;
    }
}

/* Arrays of counts that are gone before the operation is over: programs do that. */
static void arrays_that_go(void) {
  enum { kEach = 3 };
  int* counts = check_alloc((size_t)check_size * sizeof(int));
  int* places = check_alloc((size_t)check_size * sizeof(int));
  const size_t bytes = (size_t)check_size * kEach * sizeof(double);
  double *all_of_them = check_alloc(bytes), *mine = check_alloc(bytes);
  for (int way = 0; way < 4; way++) {
    MPI_Request r;
    for (int i = 0; i < check_size; i++) counts[i] = kEach, places[i] = i * kEach;
    for (int i = 0; i < check_size * kEach; i++) mine[i] = check_rank + i, all_of_them[i] = -1;
    if (way == 0)
      MUST(MPI_Iallgatherv(mine, kEach, MPI_DOUBLE, all_of_them, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &r));
    if (way == 1)
      MUST(MPI_Allgatherv_init(mine, kEach, MPI_DOUBLE, all_of_them, counts, places, MPI_DOUBLE, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &r));
    if (way == 2) MUST(MPI_Ireduce_scatter(MPI_IN_PLACE, mine, counts, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &r));
    if (way == 3)
      MUST(MPI_Reduce_scatter_init(MPI_IN_PLACE, mine, counts, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    for (int i = 0; i < check_size; i++) counts[i] = places[i] = 1 << 30;
    if (way % 2) MUST(MPI_Start(&r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (way % 2) MUST(MPI_Request_free(&r));
    for (int i = 0; i < kEach * (way < 2 ? check_size : 1); i++) {
      const double got = way < 2 ? all_of_them[i] : mine[i];
      const double wanted = way < 2 ? i / kEach + i % kEach : check_size - 1 + check_rank * kEach + i;
      CHECK(got == wanted, "way %d, element %d: %g, not %g", way, i, got, wanted);
    }
  }
  free(counts);
  free(places);
  free(all_of_them);
  free(mine);
}

static void all(Team t) {
  one_of_each(t, 1);
  one_of_each(t, kCount);
  one_of_each(t, t.size > 8 ? 3000 : 20000);
  many_of_one(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  among_messages();
  several_communicators();
  progress_elsewhere();
  arrays_that_go();
  return check_end();
}

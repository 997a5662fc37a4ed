/* The situations of the standard's examples on collectives and communicators (MPI-1.1, chapters 4 and 5), as checks.
 * Numbers in the comments are the standard's. */
#include "check.h"

enum { kInts = 100, kStride = 150 };

static int number(int rank, int i) { return rank * 1000 + i; }

/* 4.2 to 4.4, 4.11, 4.14: a hundred ints each. */
static void hundred_ints(void) {
  int mine[kInts], back[kInts];
  int* all = check_alloc((size_t)check_size * kInts * sizeof *all);
  MPI_Datatype hundred;
  MUST(MPI_Type_contiguous(kInts, MPI_INT, &hundred));
  MUST(MPI_Type_commit(&hundred));
  for (int i = 0; i < kInts; i++) mine[i] = number(check_rank, i), back[i] = 0;
  MUST(MPI_Gather(mine, kInts, MPI_INT, all, 1, hundred, 0, MPI_COMM_WORLD));
  for (int r = 0; check_rank == 0 && r < check_size; r++) CHECK_EQ(all[r * kInts + 99], number(r, 99));
  MUST(MPI_Scatter(all, kInts, MPI_INT, back, 1, hundred, 0, MPI_COMM_WORLD));
  CHECK(memcmp(mine, back, sizeof mine) == 0);
  memset(all, 0, (size_t)check_size * kInts * sizeof *all);
  MUST(MPI_Allgather(mine, kInts, MPI_INT, all, kInts, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(all[r * kInts + 50], number(r, 50));
  MUST(MPI_Type_free(&hundred));
  free(all);
}

/* 4.5, 4.7 to 4.9, 4.12, 4.13: columns of a 100 x 150 array, of shrinking length, to blocks at a stride, and back. */
static void columns_at_a_stride(void) {
  static int array[kInts][kStride];
  const int root = check_size - 1, n = kInts - check_rank, column = check_rank;
  int* counts = check_alloc((size_t)check_size * sizeof *counts);
  int* places = check_alloc((size_t)check_size * sizeof *places);
  int* all = check_alloc((size_t)check_size * kStride * sizeof *all);
  MPI_Datatype one, placed, whole;
  for (int i = 0; i < kInts; i++)
    for (int j = 0; j < kStride; j++) array[i][j] = j == column ? number(check_rank, i) : -1;
  for (int r = 0; r < check_size; r++) counts[r] = kInts - r, places[r] = r * kStride;
  for (int i = 0; i < check_size * kStride; i++) all[i] = -1;

  /* One int that takes a whole row's room: n of them are a column (4.8). */
  MUST(MPI_Type_create_resized(MPI_INT, 0, kStride * (MPI_Aint)sizeof(int), &one));
  MUST(MPI_Type_commit(&one));
  MUST(MPI_Gatherv(&array[0][column], n, one, all, counts, places, MPI_INT, root, MPI_COMM_WORLD));
  for (int r = 0; check_rank == root && r < check_size; r++)
    for (int i = 0; i < kStride; i++) CHECK_EQ(all[r * kStride + i], i < counts[r] ? number(r, i) : -1);

  /* The same column as a vector (4.7), scattered back into another place (4.13). */
  MUST(MPI_Type_vector(n, 1, kStride, MPI_INT, &whole));
  MUST(MPI_Type_create_resized(whole, 0, sizeof(int), &placed));
  MUST(MPI_Type_commit(&placed));
  for (int i = 0; i < kInts; i++) array[i][column] = -1;
  MUST(MPI_Scatterv(all, counts, places, MPI_INT, &array[0][column], 1, placed, root, MPI_COMM_WORLD));
  for (int i = 0; i < kInts; i++)
    for (int j = 0; j < kStride; j += 5)
      if (j != column) CHECK_EQ(array[i][j], -1);
  for (int i = 0; i < n; i++) CHECK_EQ(array[i][column], number(check_rank, i));
  MUST(MPI_Type_free(&one));
  MUST(MPI_Type_free(&whole));
  MUST(MPI_Type_free(&placed));
  free(counts), free(places), free(all);
}

/* 4.10 and 3.39: lengths are gathered first; then data of those lengths, packed. Off the root the arrays are null. */
static void unknown_lengths(void) {
  const int n = check_rank % 5 * 3;
  int mine[16], packed_size = 0, place = 0;
  char packed[200];
  for (int i = 0; i < n; i++) mine[i] = number(check_rank, i);
  MUST(MPI_Pack(&n, 1, MPI_INT, packed, 200, &packed_size, MPI_COMM_WORLD));
  MUST(MPI_Pack(mine, n, MPI_INT, packed, 200, &packed_size, MPI_COMM_WORLD));
  if (check_rank != 0) {
    MUST(MPI_Gather(&packed_size, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    MUST(MPI_Gatherv(packed, packed_size, MPI_PACKED, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    return;
  }
  int* sizes = check_alloc((size_t)check_size * sizeof *sizes);
  int* places = check_alloc((size_t)check_size * sizeof *places);
  MUST(MPI_Gather(&packed_size, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD));
  int total = 0;
  for (int r = 0; r < check_size; r++) places[r] = total, total += sizes[r];
  char* all = check_alloc((size_t)total);
  MUST(MPI_Gatherv(packed, packed_size, MPI_PACKED, all, sizes, places, MPI_PACKED, 0, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) {
    int got = -1, values[16];
    place = 0;
    MUST(MPI_Unpack(all + places[r], total - places[r], &place, &got, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(got, r % 5 * 3);
    MUST(MPI_Unpack(all + places[r], total - places[r], &place, values, got, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < got; i++) CHECK_EQ(values[i], number(r, i));
  }
  free(sizes), free(places), free(all);
}

/* 4.15, 4.16, 4.21: a dot product, and a vector times a matrix, spread over the ranks. */
static void linear_algebra(void) {
  enum { m = 10, n = 7 };
  double a[m], b[m][n], partial[n], c[n], dot = 0, all = 0;
  for (int i = 0; i < m; i++) {
    const int row = check_rank * m + i;
    a[i] = row;
    dot += a[i] * 2;
    for (int j = 0; j < n; j++) b[i][j] = row + j;
  }
  const int rows = check_size * m;
  MUST(MPI_Reduce(&dot, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
  CHECK(check_rank != 0 || all == (double)rows * (rows - 1), "%g", all);
  for (int j = 0; j < n; j++) {
    partial[j] = 0;
    for (int i = 0; i < m; i++) partial[j] += a[i] * b[i][j];
  }
  MUST(MPI_Allreduce(partial, c, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int j = 0; j < n; j++) {
    double should = 0;
    for (int row = 0; row < rows; row++) should += (double)row * (row + j);
    CHECK(c[j] == should, "column %d: %g, not %g", j, c[j], should);
  }
}

/* 4.17 and 4.19: where the largest, and the smallest of all, lies. */
static void extremes(void) {
  struct {
    double value;
    int rank;
  } in[30], out[30];
  for (int i = 0; i < 30; i++) {
    in[i].value = (check_rank * 17 + i * 5) % 23;
    in[i].rank = check_rank;
  }
  MUST(MPI_Allreduce(in, out, 30, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
  for (int i = 0; i < 30; i++) {
    int best = 0;
    for (int r = 1; r < check_size; r++)
      if ((r * 17 + i * 5) % 23 > (best * 17 + i * 5) % 23) best = r;
    CHECK(out[i].rank == best && out[i].value == (best * 17 + i * 5) % 23, "%d: rank %d, not %d", i, out[i].rank, best);
  }
}

/* Chapter 5: a communicator without rank 0 works beside the world; contexts keep them apart. */
static void without_rank_zero(void) {
  static const int zero = 0;
  MPI_Group world, rest;
  MPI_Comm slaves;
  int sum = 0, world_sum = 0, one = 1;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Group_excl(world, 1, &zero, &rest));
  MUST(MPI_Comm_create(MPI_COMM_WORLD, rest, &slaves));
  CHECK_EQ(slaves == MPI_COMM_NULL, check_rank == 0);
  if (slaves != MPI_COMM_NULL) MUST(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, slaves));
  MUST(MPI_Reduce(&one, &world_sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  CHECK(check_rank != 0 || world_sum == check_size);
  CHECK(check_rank != 1 || sum == check_size - 1);
  if (slaves != MPI_COMM_NULL) MUST(MPI_Comm_free(&slaves));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Group_free(&rest));
}

/* Chapter 5, example 4: messages of a ring pend, with a wildcard, across fifty reductions on the same communicator. */
static void ring_across_reductions(void) {
  int token = 42 + check_rank, got = 0;
  MPI_Request r[2];
  MUST(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Isend(&token, 1, MPI_INT, (check_rank + 1) % check_size, 12345, MPI_COMM_WORLD, &r[1]));
  for (int i = 0; i < 50; i++) {
    int sum = 0;
    MUST(MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, i % check_size, MPI_COMM_WORLD));
    CHECK(check_rank != i % check_size || sum == i * check_size);
  }
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  CHECK_EQ(got, 42 + (check_rank + check_size - 1) % check_size);
}

/* Chapter 5, library example 1: a library keeps its own communicator, and its messages pend while the user
 * communicates. */
typedef struct {
  MPI_Comm comm;
  MPI_Request pending[2];
  int out, in;
} Library;

static void library_start(Library* l, MPI_Comm comm, int value) {
  int rank, size;
  MUST(MPI_Comm_dup(comm, &l->comm));
  MUST(MPI_Comm_rank(l->comm, &rank));
  MUST(MPI_Comm_size(l->comm, &size));
  l->out = value, l->in = -1;
  MUST(MPI_Irecv(&l->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, l->comm, &l->pending[0]));
  MUST(MPI_Isend(&l->out, 1, MPI_INT, (rank + 1) % size, 0, l->comm, &l->pending[1]));
}

static void library_end(Library* l, int value) {
  MUST(MPI_Waitall(2, l->pending, MPI_STATUSES_IGNORE));
  CHECK_EQ(l->in, value);
  MUST(MPI_Comm_free(&l->comm));
}

static void libraries(void) {
  Library a, b;
  int token = check_rank, got = -1;
  library_start(&a, MPI_COMM_WORLD, 1);
  library_start(&b, MPI_COMM_WORLD, 2);
  MUST(MPI_Sendrecv(&token, 1, MPI_INT, (check_rank + 1) % check_size, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, (check_rank + check_size - 1) % check_size);
  library_end(&b, 2);
  library_end(&a, 1);
}

/* Chapter 5, library example 2: a wildcard library called on overlapping communicators, one call right behind the
 * other. */
static void wildcard_library(MPI_Comm comm, int value) {
  int rank, size, got;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &size));
  for (int i = 1; rank == 0 && i < size; i++) {
    MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(got, value);
  }
  if (rank != 0) MUST(MPI_Send(&value, 1, MPI_INT, 0, 0, comm));
}

static void overlapping(void) {
  MPI_Comm low, even;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2 ? 0 : MPI_UNDEFINED, check_rank, &low));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2 == 0 ? 0 : MPI_UNDEFINED, check_rank, &even));
  for (int k = 0; k < 20; k++) {
    if (low != MPI_COMM_NULL) wildcard_library(low, k);
    if (even != MPI_COMM_NULL) wildcard_library(even, 1000 + k);
    if (k % 5 == 4)
      MUST(MPI_Barrier(MPI_COMM_WORLD)); /* calls on one communicator may back-mask; this keeps them apart */
    if (low != MPI_COMM_NULL) MUST(MPI_Barrier(low));
    if (even != MPI_COMM_NULL) MUST(MPI_Barrier(even));
  }
  if (low != MPI_COMM_NULL) MUST(MPI_Comm_free(&low));
  if (even != MPI_COMM_NULL) MUST(MPI_Comm_free(&even));
}

/* 4.26: which of two messages the wildcard meets is open; both must be possible, and the broadcast arrives. */
static void nondeterministic(void) {
  int a = 0, b = 0, x = 9;
  if (check_size < 3) return;
  if (check_rank == 0) {
    MUST(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
    a = 1;
    MUST(MPI_Send(&a, 1, MPI_INT, 1, 77, MPI_COMM_WORLD));
  } else if (check_rank == 1) {
    MUST(MPI_Recv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
    MUST(MPI_Recv(&b, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(a + b == 3 && (a == 1 || a == 2), "%d, %d", a, b);
  } else {
    if (check_rank == 2) {
      b = 2;
      MUST(MPI_Send(&b, 1, MPI_INT, 1, 77, MPI_COMM_WORLD));
    }
    MUST(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  CHECK_EQ(x, 9);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  hundred_ints();
  columns_at_a_stride();
  unknown_lengths();
  linear_algebra();
  extremes();
  without_rank_zero();
  ring_across_reductions();
  libraries();
  overlapping();
  nondeterministic();
  return check_end();
}

/* Cartesian grids: numbering, neighbours, sub-grids, periodic and not, smaller than the communicator, and mistakes. */
#include "check.h"

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static MPI_Comm made(int ndims, const int* dims, const int* periods, int reorder) {
  MPI_Comm comm;
  MUST(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &comm));
  return comm;
}

/* Every rank's coordinates by the rule (row by row), and shifts against coordinates. */
static void numbering(int ndims, int reorder) {
  int dims[4] = {0}, periods[4], got_dims[4], got_periods[4], own[4], n, form, size, rank;
  MUST(MPI_Dims_create(check_size, ndims, dims));
  for (int d = 0; d < ndims; d++) periods[d] = d % 2;
  MPI_Comm grid = made(ndims, dims, periods, reorder);
  MUST(MPI_Topo_test(grid, &form));
  CHECK_EQ(form, MPI_CART);
  MUST(MPI_Cartdim_get(grid, &n));
  CHECK_EQ(n, ndims);
  MUST(MPI_Comm_size(grid, &size));
  MUST(MPI_Comm_rank(grid, &rank));
  CHECK_EQ(size, check_size);
  if (!reorder) CHECK_EQ(rank, check_rank);
  MUST(MPI_Cart_get(grid, ndims, got_dims, got_periods, own));
  for (int d = 0; d < ndims; d++) CHECK(got_dims[d] == dims[d] && got_periods[d] == periods[d]);
  for (int r = 0; r < size; r++) {
    int at[4], back, expected = 0;
    MUST(MPI_Cart_coords(grid, r, ndims, at));
    for (int d = 0; d < ndims; d++) expected = expected * dims[d] + at[d];
    CHECK_EQ(expected, r);
    MUST(MPI_Cart_rank(grid, at, &back));
    CHECK_EQ(back, r);
    for (int d = 0; d < ndims; d++) {
      if (r == rank) CHECK_EQ(at[d], own[d]);
      const int kept = at[d];
      at[d] = kept - 3 * dims[d];
      const int code = MPI_Cart_rank(grid, at, &back);
      if (periods[d])
        CHECK(code == MPI_SUCCESS && back == r);
      else
        CHECK_EQ(class_of(code), MPI_ERR_ARG);
      at[d] = kept;
    }
  }
  for (int d = 0; d < ndims; d++)
    for (int step = -2; step <= 2; step++) {
      int source, dest, at[4], expected;
      MUST(MPI_Cart_shift(grid, d, step, &source, &dest));
      for (int sign = -1; sign <= 1; sign += 2) {
        memcpy(at, own, sizeof at);
        at[d] += sign * step;
        if (!periods[d] && (at[d] < 0 || at[d] >= dims[d]))
          expected = MPI_PROC_NULL;
        else
          MUST(MPI_Cart_rank(grid, at, &expected));
        CHECK_EQ(sign < 0 ? source : dest, expected);
      }
      /* And the messages go there. */
      int word = rank, from = -1;
      MUST(MPI_Sendrecv(&word, 1, MPI_INT, dest, 5, &from, 1, MPI_INT, source, 5, grid, MPI_STATUS_IGNORE));
      CHECK_EQ(from, source == MPI_PROC_NULL ? -1 : source);
    }
  MPI_Comm twin;
  MUST(MPI_Comm_dup(grid, &twin));
  MUST(MPI_Topo_test(twin, &form));
  CHECK_EQ(form, MPI_CART);
  MUST(MPI_Comm_free(&grid));
  MUST(MPI_Cart_get(twin, ndims, got_dims, got_periods, own));
  CHECK_EQ(got_dims[0], dims[0]);
  MUST(MPI_Comm_free(&twin));
}

/* Grids of fewer places: the first ranks are in it. */
static void smaller(void) {
  int dims[1] = {check_size - 1}, periods[1] = {1};
  if (check_size < 2) return;
  MPI_Comm grid = made(1, dims, periods, 0);
  CHECK_EQ(grid != MPI_COMM_NULL, check_rank < check_size - 1);
  if (grid != MPI_COMM_NULL) MUST(MPI_Comm_free(&grid));
  int mapped;
  MUST(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &mapped));
  CHECK((mapped == MPI_UNDEFINED) || (mapped >= 0 && mapped < dims[0]));
  /* A grid without dimensions has one place. */
  MPI_Comm point = made(0, NULL, NULL, 0);
  CHECK_EQ(point != MPI_COMM_NULL, check_rank == 0);
  if (point != MPI_COMM_NULL) {
    int n = -1;
    MUST(MPI_Cartdim_get(point, &n));
    CHECK_EQ(n, 0);
    MUST(MPI_Cart_rank(point, NULL, &n));
    CHECK_EQ(n, 0);
    MUST(MPI_Comm_free(&point));
  }
}

static void sub_grids(void) {
  int dims[3] = {0}, periods[3] = {0, 1, 0}, own[3];
  MUST(MPI_Dims_create(check_size, 3, dims));
  MPI_Comm grid = made(3, dims, periods, 0);
  MUST(MPI_Cart_coords(grid, check_rank, 3, own));
  for (int keep = 0; keep < 8; keep++) {
    const int remain[3] = {keep & 1, (keep & 2) * 7, keep & 4};
    MPI_Comm part;
    int expected = 1, place = 0, size, rank, n;
    MUST(MPI_Cart_sub(grid, remain, &part));
    for (int d = 0, k = 0; d < 3; d++) {
      if (!remain[d]) continue;
      int sub_dims[3], sub_periods[3], sub_own[3];
      expected *= dims[d];
      place = place * dims[d] + own[d];
      MUST(MPI_Cart_get(part, 3, sub_dims, sub_periods, sub_own));
      CHECK(sub_dims[k] == dims[d] && sub_periods[k] == periods[d] && sub_own[k] == own[d]);
      k++;
    }
    MUST(MPI_Comm_size(part, &size));
    MUST(MPI_Comm_rank(part, &rank));
    CHECK_EQ(size, expected);
    CHECK_EQ(rank, place);
    int sum = 0, one = 1;
    MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part));
    CHECK_EQ(sum, expected);
    MUST(MPI_Cartdim_get(part, &n));
    CHECK_EQ(n, (keep & 1) + (keep >> 1 & 1) + (keep >> 2));
    MUST(MPI_Comm_free(&part));
  }
  MUST(MPI_Comm_free(&grid));
}

/* The text that comes with the last error of a class. */
static void expect_words(int code, const char* words) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, words), "'%s' in: %s", words, text);
}

static void dims_of(int n, int ndims, const int* in, const int* out) {
  int dims[4];
  memcpy(dims, in, (size_t)ndims * sizeof *dims);
  MUST(MPI_Dims_create(n, ndims, dims));
  for (int d = 0; d < ndims; d++) CHECK(dims[d] == out[d], "%d of %d: %d, not %d", d, n, dims[d], out[d]);
}

static void dims_create(void) {
  dims_of(6, 2, (int[]){0, 0}, (int[]){3, 2});
  dims_of(7, 2, (int[]){0, 0}, (int[]){7, 1});
  dims_of(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
  dims_of(24, 3, (int[]){0, 0, 0}, (int[]){4, 3, 2});
  dims_of(24, 3, (int[]){4, 2, 3}, (int[]){4, 2, 3});
  int dims[3] = {0, 3, 0};
  CHECK_EQ(class_of(MPI_Dims_create(7, 3, dims)), MPI_ERR_DIMS);
  expect_words(MPI_ERR_DIMS, "argument nnodes is 7; the dimensions that argument dims fixes have 3 places");
  dims[0] = -1;
  CHECK_EQ(class_of(MPI_Dims_create(6, 3, dims)), MPI_ERR_DIMS);
  CHECK_EQ(class_of(MPI_Dims_create(0, 3, dims)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Dims_create(6, -1, dims)), MPI_ERR_ARG);
}

static void mistakes(void) {
  int dims[2] = {check_size, 2}, periods[2] = {0, 0}, n, m;
  MPI_Comm grid = MPI_COMM_WORLD, line;
  CHECK_EQ(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid)), MPI_ERR_DIMS);
  char form[64];
  snprintf(form, sizeof form, "argument dims makes a grid of %d x 2 processes; ", check_size);
  expect_words(MPI_ERR_DIMS, form);
  dims[1] = 0;
  CHECK_EQ(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid)), MPI_ERR_DIMS);
  CHECK_EQ(class_of(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &grid)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Cartdim_get(MPI_COMM_WORLD, &n)), MPI_ERR_TOPOLOGY);
  CHECK_EQ(class_of(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &n, &m)), MPI_ERR_TOPOLOGY);
  CHECK_EQ(class_of(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &m)), MPI_ERR_TOPOLOGY);
  MUST(MPI_Topo_test(MPI_COMM_WORLD, &n));
  CHECK_EQ(n, MPI_UNDEFINED);
  line = made(1, dims, periods, 0);
  CHECK_EQ(class_of(MPI_Cart_shift(line, 1, 1, &n, &m)), MPI_ERR_DIMS);
  CHECK_EQ(class_of(MPI_Cart_shift(line, -1, 1, &n, &m)), MPI_ERR_DIMS);
  CHECK_EQ(class_of(MPI_Cart_coords(line, check_size, 1, &n)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Cart_coords(line, MPI_PROC_NULL, 1, &n)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Graph_neighbors_count(line, 0, &n)), MPI_ERR_TOPOLOGY);
  MUST(MPI_Comm_free(&line));
}

/* MPI 1.1, example 6.4: a skew by the column's number along the first dimension of a torus. */
static void skew(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 1}, own[2], source, dest, value = check_rank;
  MUST(MPI_Dims_create(check_size, 2, dims));
  MPI_Comm torus = made(2, dims, periods, 0);
  MUST(MPI_Cart_coords(torus, check_rank, 2, own));
  MUST(MPI_Cart_shift(torus, 0, own[1], &source, &dest));
  MUST(MPI_Sendrecv_replace(&value, 1, MPI_INT, dest, 0, source, 0, torus, MPI_STATUS_IGNORE));
  CHECK_EQ(value, source);
  MUST(MPI_Comm_free(&torus));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int ndims = 1; ndims <= 4; ndims++)
    for (int reorder = 0; reorder < 2; reorder++) numbering(ndims, reorder);
  smaller();
  sub_grids();
  dims_create();
  mistakes();
  skew();
  return check_end();
}

/* Alltoall and Alltoallv: in place, with gaps, with nothing for some pairs, and between layouts. */
#include "coll.h"

static int value(int from, int to, int i, int seed) { return element(from, i, seed) + from * 100 + to * 10000; }

static void alltoall(Team t, int count, int way) {
  const size_t ints = (size_t)count * (size_t)t.size;
  int* out = check_alloc(ints * sizeof *out);
  int* in = check_alloc((ints + 1) * sizeof *in);
  for (int in_place = 0; in_place < 2; in_place++) {
    for (int r = 0; r < t.size; r++)
      for (int i = 0; i < count; i++) out[r * count + i] = value(t.rank, r, i, way);
    for (size_t i = 0; i <= ints; i++) in[i] = -1;
    if (in_place) {
      memcpy(in, out, ints * sizeof *in);
      COLL(way, MPI_Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, t.comm);
    } else {
      COLL(way, MPI_Alltoall, MPI_Ialltoall, out, count, MPI_INT, in, count, MPI_INT, t.comm);
    }
    for (int r = 0; r < t.size; r++)
      for (int i = 0; i < count; i++)
        if (in[r * count + i] != value(r, t.rank, i, way)) {
          CHECK(0, "alltoall%s, %d ranks, count %d, way %d: block %d, element %d is %d", in_place ? " in place" : "",
                t.size, count, way, r, i, in[r * count + i]);
          r = t.size;
          break;
        }
    CHECK_EQ(in[ints], -1);
  }
  free(out);
  free(in);
}

/* How much goes between two ranks; symmetric, as in-place needs it. */
static int amount(int a, int b, int scale) { return (a + b) % 3 == 0 ? 0 : (a * b + a + b + 1) * scale; }

static void alltoallv(Team t, int scale, int way) {
  int* counts = check_alloc((size_t)t.size * sizeof *counts);
  int* out_places = check_alloc((size_t)t.size * sizeof *out_places);
  int* in_places = check_alloc((size_t)t.size * sizeof *in_places);
  int out_total = 0, in_total = 1;
  for (int r = 0; r < t.size; r++) {
    counts[r] = amount(t.rank, r, scale);
    out_places[r] = out_total;
    out_total += counts[r] + r % 2;
  }
  for (int r = t.size - 1; r >= 0; r--) { /* what comes lies in another order than what goes */
    in_places[r] = in_total;
    in_total += counts[r] + 2;
  }
  int* out = check_alloc((size_t)out_total * sizeof *out);
  int* in = check_alloc((size_t)in_total * sizeof *in);
  for (int in_place = 0; in_place < 2; in_place++) {
    for (int i = 0; i < in_total; i++) in[i] = -1;
    for (int r = 0; r < t.size; r++)
      for (int i = 0; i < counts[r]; i++) {
        out[out_places[r] + i] = value(t.rank, r, i, way);
        if (in_place) in[in_places[r] + i] = value(t.rank, r, i, way);
      }
    if (in_place)
      COLL(way, MPI_Alltoallv, MPI_Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, in_places,
           MPI_INT, t.comm);
    else
      COLL(way, MPI_Alltoallv, MPI_Ialltoallv, out, counts, out_places, MPI_INT, in, counts, in_places, MPI_INT,
           t.comm);
    for (int r = 0; r < t.size; r++) {
      CHECK_EQ(in[in_places[r] - 1], -1);
      for (int i = 0; i < counts[r]; i++)
        if (in[in_places[r] + i] != value(r, t.rank, i, way)) {
          CHECK(0, "alltoallv%s, %d ranks, scale %d, way %d: block %d, element %d is %d", in_place ? " in place" : "",
                t.size, scale, way, r, i, in[in_places[r] + i]);
          break;
        }
    }
  }
  free(counts);
  free(out_places);
  free(in_places);
  free(out);
  free(in);
}

/* The transpose of a matrix spread by rows: columns of blocks go out, rows come in. */
static void transpose(Team t) {
  enum { kBlock = 20 };
  const int n = kBlock * t.size;
  int* rows = check_alloc((size_t)kBlock * (size_t)n * sizeof *rows);
  int* turned = check_alloc((size_t)kBlock * (size_t)n * sizeof *turned);
  MPI_Datatype column, columns, block_out, row, block_in;
  MUST(MPI_Type_vector(kBlock, 1, n, MPI_INT, &column)); /* one column of a block */
  MUST(MPI_Type_create_resized(column, 0, sizeof(int), &columns));
  MUST(MPI_Type_contiguous(kBlock, columns, &row));
  MUST(MPI_Type_create_resized(row, 0, kBlock * (MPI_Aint)sizeof(int), &block_out)); /* blocks side by side */
  MUST(MPI_Type_free(&row));
  MUST(MPI_Type_vector(kBlock, kBlock, n, MPI_INT, &row));
  MUST(MPI_Type_create_resized(row, 0, kBlock * (MPI_Aint)sizeof(int), &block_in));
  MUST(MPI_Type_commit(&block_out));
  MUST(MPI_Type_commit(&block_in));
  for (int i = 0; i < kBlock; i++)
    for (int j = 0; j < n; j++) rows[i * n + j] = (t.rank * kBlock + i) * 10000 + j;
  for (int way = 0; way < kWays; way++) {
    memset(turned, 0, (size_t)kBlock * (size_t)n * sizeof *turned);
    COLL(way, MPI_Alltoall, MPI_Ialltoall, rows, 1, block_out, turned, 1, block_in, t.comm);
    for (int i = 0; i < kBlock * n; i++)
      if (turned[i] != i % n * 10000 + t.rank * kBlock + i / n) {
        CHECK(0, "transpose, %d ranks: row %d, column %d is %d", t.size, i / n, i % n, turned[i]);
        break;
      }
  }
  MPI_Datatype* const types[] = {&column, &columns, &block_out, &row, &block_in};
  for (int k = 0; k < 5; k++) MUST(MPI_Type_free(types[k]));
  free(rows);
  free(turned);
}

static void all(Team t) {
  int counts[16];
  const int n = element_counts(counts);
  for (int c = 0; c < n; c++)
    for (int way = 0; way < kWays; way++)
      if (counts[c] <= 5000 || way == c % kWays) alltoall(t, counts[c] / (t.size > 4 ? 4 : 1), way);
  for (int scale = 1; scale <= 1000; scale *= 10)
    for (int way = 0; way < kWays; way++) alltoallv(t, t.size > 8 ? scale / 20 + 1 : scale, way);
  transpose(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  return check_end();
}

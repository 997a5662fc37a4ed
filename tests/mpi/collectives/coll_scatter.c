/* Scatter and Scatterv: all roots, in place, with gaps, with nothing for some, typed at one end. */
#include "coll.h"

static int value(int root, int to, int i, int seed) { return element(to, i, seed) + to * 100 + root * 10000; }

static void check_block(const int* at, int count, Team t, int root, int seed, const char* what, int way) {
  for (int i = 0; i < count; i++)
    if (at[i] != value(root, t.rank, i, seed)) {
      CHECK(0, "%s, %d ranks, root %d, count %d, way %d: element %d is %d", what, t.size, root, count, way, i, at[i]);
      return;
    }
}

static void scatter(Team t, int count, int root, int way) {
  const int here = t.rank == root;
  int* mine = check_alloc((size_t)(count + 1) * sizeof *mine);
  int* blocks = here ? check_alloc((size_t)count * (size_t)t.size * sizeof *blocks) : NULL;
  for (int r = 0; here && r < t.size; r++)
    for (int i = 0; i < count; i++) blocks[r * count + i] = value(root, r, i, way);
  for (int i = 0; i <= count; i++) mine[i] = -1;
  COLL(way, MPI_Scatter, MPI_Iscatter, blocks, here ? count : -9, here ? MPI_INT : MPI_DATATYPE_NULL, mine, count,
       MPI_INT, root, t.comm);
  check_block(mine, count, t, root, way, "scatter", way);
  CHECK_EQ(mine[count], -1);
  for (int i = 0; i <= count; i++) mine[i] = -1;
  COLL(way, MPI_Scatter, MPI_Iscatter, blocks, here ? count : 0, here ? MPI_INT : MPI_DATATYPE_NULL,
       here ? MPI_IN_PLACE : mine, here ? -1 : count, here ? MPI_DATATYPE_NULL : MPI_INT, root, t.comm);
  check_block(here ? blocks + root * count : mine, count, t, root, way, "scatter in place", way);
  free(mine);
  free(blocks);
}

static void scatterv(Team t, int scale, int root, int way) {
  const int here = t.rank == root;
  int* counts = check_alloc((size_t)t.size * sizeof *counts);
  int* places = check_alloc((size_t)t.size * sizeof *places);
  int total = 0;
  for (int r = t.size - 1; r >= 0; r--) {
    counts[r] = r % 3 == 2 ? 0 : (r + 1) * scale;
    places[r] = total + 5;
    total += counts[r] + 7;
  }
  int* blocks = check_alloc((size_t)total * sizeof *blocks);
  int* mine = check_alloc((size_t)(counts[t.rank] + 1) * sizeof *mine);
  for (int i = 0; i < total; i++) blocks[i] = -4;
  for (int r = 0; r < t.size; r++)
    for (int i = 0; i < counts[r]; i++) blocks[places[r] + i] = value(root, r, i, way);
  for (int in_place = 0; in_place < 2; in_place++) {
    for (int i = 0; i <= counts[t.rank]; i++) mine[i] = -1;
    COLL(way, MPI_Scatterv, MPI_Iscatterv, here ? blocks : NULL, here ? counts : NULL, here ? places : NULL,
         here ? MPI_INT : MPI_DATATYPE_NULL, here && in_place ? MPI_IN_PLACE : mine, counts[t.rank], MPI_INT, root,
         t.comm);
    check_block(here && in_place ? blocks + places[root] : mine, counts[t.rank], t, root, way, "scatterv", way);
    CHECK_EQ(mine[counts[t.rank]], -1);
  }
  free(counts);
  free(places);
  free(blocks);
  free(mine);
}

/* Columns of the root's matrix go out, each received in one piece. */
static void scatter_columns(Team t) {
  enum { kRows = 300 };
  int mine[kRows];
  int* matrix = check_alloc((size_t)kRows * (size_t)t.size * sizeof *matrix);
  MPI_Datatype column, placed;
  MUST(MPI_Type_vector(kRows, 1, t.size, MPI_INT, &column));
  MUST(MPI_Type_create_resized(column, 0, sizeof(int), &placed));
  MUST(MPI_Type_commit(&placed));
  for (int way = 0; way < kWays; way++) {
    for (int i = 0; i < kRows * t.size; i++) matrix[i] = value(0, i % t.size, i / t.size, way);
    memset(mine, 0, sizeof mine);
    COLL(way, MPI_Scatter, MPI_Iscatter, matrix, 1, placed, mine, kRows, MPI_INT, 0, t.comm);
    check_block(mine, kRows, t, 0, way, "scatter by columns", way);
  }
  MUST(MPI_Type_free(&column));
  MUST(MPI_Type_free(&placed));
  free(matrix);
}

static void all(Team t) {
  int counts[16], roots[4];
  const int n = element_counts(counts), nroots = roots_of(t.size, roots);
  for (int k = 0; k < nroots; k++) {
    for (int c = 0; c < n; c++)
      for (int way = 0; way < kWays; way++)
        if (counts[c] <= 5000 || way == c % kWays) scatter(t, counts[c], roots[k], way);
    for (int scale = 1; scale <= 10000; scale *= 10)
      for (int way = 0; way < kWays; way++) scatterv(t, scale / t.size + 1, roots[k], way);
  }
  scatter_columns(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  return check_end();
}

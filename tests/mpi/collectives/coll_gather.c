/* Gather, Gatherv, Allgather and Allgatherv: all roots, in place, with gaps, with nothing from some, typed at one end.
 */
#include "coll.h"

static void fill(int* to, int count, int rank, int seed) {
  for (int i = 0; i < count; i++) to[i] = element(rank, i, seed) + rank * 100;
}

/* Whether block `rank` of `count` lies at `at`. */
static void check_block(const int* at, int count, int rank, int seed, const char* what, Team t, int root, int way) {
  for (int i = 0; i < count; i++)
    if (at[i] != element(rank, i, seed) + rank * 100) {
      CHECK(0, "%s, %d ranks, root %d, count %d, way %d: block %d, element %d is %d", what, t.size, root, count, way,
            rank, i, at[i]);
      return;
    }
}

static void gather(Team t, int count, int root, int way) {
  int* mine = check_alloc((size_t)count * sizeof *mine);
  int* all = t.rank == root ? check_alloc((size_t)count * (size_t)t.size * sizeof *all) : NULL;
  fill(mine, count, t.rank, way);
  /* What is not significant off the root may be anything. */
  COLL(way, MPI_Gather, MPI_Igather, mine, count, MPI_INT, all, t.rank == root ? count : -3,
       t.rank == root ? MPI_INT : MPI_DATATYPE_NULL, root, t.comm);
  for (int r = 0; t.rank == root && r < t.size; r++)
    check_block(all + r * count, count, r, way, "gather", t, root, way);
  if (t.rank == root) {
    for (int i = 0; i < count * t.size; i++) all[i] = -1;
    fill(all + root * count, count, root, way);
    COLL(way, MPI_Gather, MPI_Igather, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, count, MPI_INT, root, t.comm);
    for (int r = 0; r < t.size; r++) check_block(all + r * count, count, r, way, "gather in place", t, root, way);
  } else {
    COLL(way, MPI_Gather, MPI_Igather, mine, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, t.comm);
  }
  free(mine);
  free(all);
}

/* Counts differ by rank, some are 0; blocks lie in reverse order with gaps that must stay untouched. */
static void gatherv(Team t, int scale, int root, int way) {
  int* counts = check_alloc((size_t)t.size * sizeof *counts);
  int* places = check_alloc((size_t)t.size * sizeof *places);
  int total = 0;
  for (int r = t.size - 1; r >= 0; r--) {
    counts[r] = r % 3 == 1 ? 0 : (r + 1) * scale;
    places[r] = total + 2;
    total += counts[r] + 3;
  }
  int* mine = check_alloc((size_t)counts[t.rank] * sizeof *mine);
  int* all = check_alloc((size_t)total * sizeof *all);
  for (int k = 0; k < 2; k++) { /* 0: separate buffers, 1: in place at the root */
    const int here = t.rank == root;
    fill(mine, counts[t.rank], t.rank, way + k);
    for (int i = 0; i < total; i++) all[i] = -1;
    if (k == 1 && here) fill(all + places[root], counts[root], root, way + k);
    COLL(way, MPI_Gatherv, MPI_Igatherv, k == 1 && here ? MPI_IN_PLACE : mine, counts[t.rank], MPI_INT,
         here ? all : NULL, here ? counts : NULL, here ? places : NULL, here ? MPI_INT : MPI_DATATYPE_NULL, root,
         t.comm);
    if (!here) continue;
    long sum = 0, should = 0;
    for (int r = 0; r < t.size; r++) {
      check_block(all + places[r], counts[r], r, way + k, "gatherv", t, root, way);
      for (int i = 0; i < counts[r]; i++) should += element(r, i, way + k) + r * 100 + 1;
    }
    for (int i = 0; i < total; i++) sum += all[i] + 1;
    CHECK(sum == should, "gatherv wrote into a gap");
  }
  free(counts);
  free(places);
  free(mine);
  free(all);
}

static void allgather(Team t, int count, int way) {
  int* mine = check_alloc((size_t)count * sizeof *mine);
  int* all = check_alloc((size_t)count * (size_t)t.size * sizeof *all);
  fill(mine, count, t.rank, way);
  COLL(way, MPI_Allgather, MPI_Iallgather, mine, count, MPI_INT, all, count, MPI_INT, t.comm);
  for (int r = 0; r < t.size; r++) check_block(all + r * count, count, r, way, "allgather", t, -1, way);
  for (int i = 0; i < count * t.size; i++) all[i] = -1;
  fill(all + t.rank * count, count, t.rank, way + 1);
  COLL(way, MPI_Allgather, MPI_Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, t.comm);
  for (int r = 0; r < t.size; r++) check_block(all + r * count, count, r, way + 1, "allgather in place", t, -1, way);
  free(mine);
  free(all);
}

static void allgatherv(Team t, int scale, int way) {
  int* counts = check_alloc((size_t)t.size * sizeof *counts);
  int* places = check_alloc((size_t)t.size * sizeof *places);
  int total = 0;
  for (int r = t.size - 1; r >= 0; r--) {
    counts[r] = r % 4 == 2 ? 0 : (t.size - r) * scale;
    places[r] = total + 1;
    total += counts[r] + 2;
  }
  int* mine = check_alloc((size_t)counts[t.rank] * sizeof *mine);
  int* all = check_alloc((size_t)total * sizeof *all);
  for (int k = 0; k < 2; k++) {
    fill(mine, counts[t.rank], t.rank, way + k);
    for (int i = 0; i < total; i++) all[i] = -1;
    if (k == 1) fill(all + places[t.rank], counts[t.rank], t.rank, way + k);
    COLL(way, MPI_Allgatherv, MPI_Iallgatherv, k ? MPI_IN_PLACE : mine, counts[t.rank], MPI_INT, all, counts, places,
         MPI_INT, t.comm);
    for (int r = 0; r < t.size; r++) {
      check_block(all + places[r], counts[r], r, way + k, "allgatherv", t, -1, way);
      CHECK(all[places[r] - 1] == -1, "the gap before block %d", r);
    }
  }
  free(counts);
  free(places);
  free(mine);
  free(all);
}

/* Rank r's block becomes column r of a matrix: the standard's use of a resized vector. */
static void gather_columns(Team t) {
  enum { kRows = 300 };
  int mine[kRows];
  int* matrix = check_alloc((size_t)kRows * (size_t)t.size * sizeof *matrix);
  MPI_Datatype column, placed;
  MUST(MPI_Type_vector(kRows, 1, t.size, MPI_INT, &column));
  MUST(MPI_Type_create_resized(column, 0, sizeof(int), &placed));
  MUST(MPI_Type_commit(&placed));
  for (int way = 0; way < kWays; way++) {
    fill(mine, kRows, t.rank, way);
    memset(matrix, 0, (size_t)kRows * (size_t)t.size * sizeof *matrix);
    COLL(way, MPI_Gather, MPI_Igather, mine, kRows, MPI_INT, matrix, 1, placed, t.size - 1, t.comm);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; (pass == 1 || t.rank == t.size - 1) && i < kRows * t.size; i++)
        if (matrix[i] != element(i % t.size, i / t.size, way) + i % t.size * 100) {
          CHECK(0, "%s by columns, %d ranks: row %d, column %d", pass ? "allgather" : "gather", t.size, i / t.size,
                i % t.size);
          break;
        }
      if (pass == 1) break;
      memset(matrix, 0, (size_t)kRows * (size_t)t.size * sizeof *matrix);
      COLL(way, MPI_Allgather, MPI_Iallgather, mine, kRows, MPI_INT, matrix, 1, placed, t.comm);
    }
  }
  MUST(MPI_Type_free(&column));
  MUST(MPI_Type_free(&placed));
  free(matrix);
}

static void all(Team t) {
  int counts[16], roots[4];
  const int n = element_counts(counts), nroots = roots_of(t.size, roots);
  for (int c = 0; c < n; c++)
    for (int way = 0; way < kWays; way++) {
      if (counts[c] > 5000 && way != c % kWays) continue; /* takes long, says little */
      for (int k = 0; k < nroots; k++) gather(t, counts[c], roots[k], way);
      allgather(t, counts[c], way);
    }
  for (int scale = 1; scale <= 10000; scale *= 10)
    for (int way = 0; way < kWays; way++) {
      for (int k = 0; k < nroots; k++) gatherv(t, scale / t.size + 1, roots[k], way);
      allgatherv(t, scale / t.size + 1, way);
    }
  gather_columns(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  return check_end();
}

/* Reduce and Allreduce: every predefined operation on every type it is defined for, in place and not, from every root.
 */
#include "coll.h"
#include "ops.h"

/* What rank `r` puts in at `i`. Products see mostly ones, so that even a signed char's product of 16 ranks is exact. */
static int contribution(const Case* c, int r, int i, int seed) {
  if (c->op == MPI_PROD) return r == i % 5 ? 1 + (i + seed) % 3 : 1;
  if (c->op == MPI_LAND || c->op == MPI_LOR || c->op == MPI_LXOR) return (element(r, i, seed) % 4) != 0 ? 2 : 0;
  if (c->op == MPI_MAXLOC || c->op == MPI_MINLOC) return (element(r, i, seed) * 5 + r) % 40;
  return element(r, i, seed) % 8;
}

static void fill(const Case* c, char* to, int count, int rank, int seed) {
  for (int i = 0; i < count; i++) c->put(to + (size_t)i * c->size, contribution(c, rank, i, seed));
}

static void compare(const Case* c, const char* is, int count, Team t, int seed, const char* what, int way) {
  char should[64], next[64];
  for (int i = 0; i < count; i++) {
    c->put(should, contribution(c, 0, i, seed));
    for (int r = 1; r < t.size; r++) {
      c->put(next, contribution(c, r, i, seed));
      c->fold(should, next);
    }
    if (!same_value(c, is + (size_t)i * c->size, should)) {
      CHECK(0, "%s of %s, %d ranks, count %d, way %d: element %d is wrong", what, c->name, t.size, count, way, i);
      return;
    }
  }
}

static void reduce_one(const Case* c, int count, Team t, int way, int seed) {
  int roots[4];
  const int nroots = roots_of(t.size, roots);
  const size_t bytes = (size_t)count * c->size;
  char* mine = check_alloc(bytes);
  char* result = check_alloc(bytes + 1);
  char* untouched = check_alloc(bytes);
  fill(c, mine, count, t.rank, seed);
  memcpy(untouched, mine, bytes);
  memset(result, 0x55, bytes + 1);
  COLL(way, MPI_Allreduce, MPI_Iallreduce, mine, result, count, c->type, c->op, t.comm);
  compare(c, result, count, t, seed, "allreduce", way);
  CHECK(result[bytes] == 0x55, "%s: a byte behind the result", c->name);
  fill(c, result, count, t.rank, seed);
  COLL(way, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, result, count, c->type, c->op, t.comm);
  compare(c, result, count, t, seed, "allreduce in place", way);

  const int root = roots[seed % nroots], in_place_root = roots[(seed + 1) % nroots];
  memset(result, 0x55, bytes);
  COLL(way, MPI_Reduce, MPI_Ireduce, mine, t.rank == root ? result : NULL, count, c->type, c->op, root, t.comm);
  if (t.rank == root) compare(c, result, count, t, seed, "reduce", way);
  fill(c, result, count, t.rank, seed);
  if (t.rank == in_place_root) {
    COLL(way, MPI_Reduce, MPI_Ireduce, MPI_IN_PLACE, result, count, c->type, c->op, in_place_root, t.comm);
    compare(c, result, count, t, seed, "reduce in place", way);
  } else {
    COLL(way, MPI_Reduce, MPI_Ireduce, mine, NULL, count, c->type, c->op, in_place_root, t.comm);
  }
  CHECK(memcmp(mine, untouched, bytes) == 0, "%s: the contribution was changed", c->name);
  free(untouched);
  free(mine);
  free(result);
}

static void all_types(Team t) {
  int n;
  const Case* c = op_cases(&n);
  for (int k = 0; k < n; k++) {
    reduce_one(&c[k], t.comm == MPI_COMM_WORLD ? 1 : 5, t, k % kWays, k);
    if (t.comm != MPI_COMM_WORLD) continue;
    reduce_one(&c[k], k % 2 ? 37 : 1500, t, (k / 2) % kWays, k);
  }
}

static void all_counts(Team t) {
  int n, counts[16];
  const Case* c = op_cases(&n);
  n = element_counts(counts);
  for (int k = 0; k < n; k++)
    for (int way = 0; way < kWays; way++) {
      if (counts[k] > 2000 && (t.comm != MPI_COMM_WORLD || way != k % kWays)) continue; /* takes long, says little */
      reduce_one(&c[0], counts[k], t, way, k + way);                                    /* int sum */
      reduce_one(&c[10 + 2], counts[k], t, way, k + way);                               /* double max */
    }
}

/* Floating sums depend on the order; whatever it is, every rank must see the same bits, and the same again. */
static void same_everywhere(Team t) {
  enum { kCount = 1000 };
  static double mine[kCount], first[kCount], second[kCount], of_root[kCount];
  for (int i = 0; i < kCount; i++) mine[i] = 1.0 / (1 + t.rank * 13 + i);
  MUST(MPI_Allreduce(mine, first, kCount, MPI_DOUBLE, MPI_SUM, t.comm));
  MUST(MPI_Allreduce(mine, second, kCount, MPI_DOUBLE, MPI_SUM, t.comm));
  CHECK(memcmp(first, second, sizeof first) == 0, "the same sum twice differs");
  memcpy(of_root, first, sizeof first);
  MUST(MPI_Bcast(of_root, kCount, MPI_DOUBLE, 0, t.comm));
  CHECK(memcmp(first, of_root, sizeof first) == 0, "rank %d's sum is not rank 0's", t.rank);
}

static void all(Team t) {
  all_types(t);
  all_counts(t);
  same_everywhere(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  return check_end();
}

/* Groups: set operations against an oracle, translation, comparison. No communication. */
#include "check.h"

/* The world ranks of a group, in order. */
static int members(MPI_Group g, int* ranks) {
  int n;
  MPI_Group world;
  MUST(MPI_Group_size(g, &n));
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int* own = check_alloc((size_t)(n + 1) * sizeof *own);
  for (int i = 0; i < n; i++) own[i] = i;
  MUST(MPI_Group_translate_ranks(g, n, own, world, ranks));
  MUST(MPI_Group_free(&world));
  free(own);
  return n;
}

static int contains(const int* a, int n, int x) {
  for (int i = 0; i < n; i++)
    if (a[i] == x) return 1;
  return 0;
}

static void expect(const char* what, MPI_Group g, const int* should, int n) {
  int* is = check_alloc((size_t)(check_size + 1) * sizeof *is);
  const int m = members(g, is);
  int rank = -7, position = MPI_UNDEFINED;
  CHECK(m == n, "%s: %d members, not %d", what, m, n);
  for (int i = 0; i < n && i < m; i++)
    CHECK(is[i] == should[i], "%s: member %d is %d, not %d", what, i, is[i], should[i]);
  for (int i = 0; i < n; i++)
    if (should[i] == check_rank) position = i;
  MUST(MPI_Group_rank(g, &rank));
  CHECK(rank == position, "%s: this process is %d, not %d", what, rank, position);
  CHECK((n == 0) == (g == MPI_GROUP_EMPTY), "%s: an empty group is MPI_GROUP_EMPTY, no other is", what);
  free(is);
}

static void set_operations(Random* random) {
  MPI_Group world, a, b, c;
  const size_t bytes = (size_t)(2 * check_size + 1) * sizeof(int);
  int *as = check_alloc(bytes), *bs = check_alloc(bytes), *cs = check_alloc(bytes), *order = check_alloc(bytes);
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  for (int i = 0; i < check_size; i++) order[i] = i;
  for (int i = check_size - 1; i > 0; i--) {
    const int k = random_below(random, i + 1), swap = order[i];
    order[i] = order[k], order[k] = swap;
  }
  int na = 0, nb = 0, n;
  for (int i = 0; i < check_size; i++) {
    if (random_below(random, 2)) as[na++] = order[i];
    if (random_below(random, 2)) bs[nb++] = i;
  }
  MUST(MPI_Group_incl(world, na, as, &a));
  expect("incl", a, as, na);
  MUST(MPI_Group_incl(world, nb, bs, &b));
  expect("incl", b, bs, nb);

  memcpy(cs, as, (size_t)na * sizeof *cs), n = na;
  for (int i = 0; i < nb; i++)
    if (!contains(as, na, bs[i])) cs[n++] = bs[i];
  MUST(MPI_Group_union(a, b, &c));
  expect("union", c, cs, n);
  MUST(MPI_Group_free(&c));

  n = 0;
  for (int i = 0; i < na; i++)
    if (contains(bs, nb, as[i])) cs[n++] = as[i];
  MUST(MPI_Group_intersection(a, b, &c));
  expect("intersection", c, cs, n);
  MUST(MPI_Group_free(&c));

  n = 0;
  for (int i = 0; i < na; i++)
    if (!contains(bs, nb, as[i])) cs[n++] = as[i];
  MUST(MPI_Group_difference(a, b, &c));
  expect("difference", c, cs, n);
  MUST(MPI_Group_free(&c));

  n = 0;
  for (int i = 0; i < check_size; i++)
    if (!contains(bs, nb, i)) cs[n++] = i;
  MUST(MPI_Group_excl(world, nb, bs, &c));
  expect("excl", c, cs, n);
  CHECK(c != MPI_GROUP_NULL);
  MUST(MPI_Group_free(&c));
  CHECK(c == MPI_GROUP_NULL);
  MUST(MPI_Group_free(&a));
  MUST(MPI_Group_free(&b));
  MUST(MPI_Group_free(&world));
  free(as), free(bs), free(cs), free(order);
}

static void ranges(void) {
  MPI_Group world, g;
  int* should = check_alloc((size_t)(check_size + 1) * sizeof *should);
  int n = 0;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int down[1][3] = {{check_size - 1, 0, -2}};
  for (int i = check_size - 1; i >= 0; i -= 2) should[n++] = i;
  MUST(MPI_Group_range_incl(world, 1, down, &g));
  expect("range_incl down", g, should, n);
  MUST(MPI_Group_free(&g));
  n = 0;
  for (int i = 0; i < check_size; i++)
    if ((check_size - 1 - i) % 2 != 0) should[n++] = i;
  MUST(MPI_Group_range_excl(world, 1, down, &g));
  expect("range_excl", g, should, n);
  MUST(MPI_Group_free(&g));
  MUST(MPI_Group_incl(world, 0, NULL, &g));
  expect("incl of none", g, should, 0);
  MUST(MPI_Group_free(&g));
  MUST(MPI_Group_excl(world, 0, NULL, &g));
  int relation;
  MUST(MPI_Group_compare(g, world, &relation));
  CHECK_EQ(relation, MPI_IDENT);
  MUST(MPI_Group_free(&g));
  MUST(MPI_Group_free(&world));
  free(should);
}

static void compare(void) {
  MPI_Group world, reversed, first;
  int relation, none = 0;
  int* back = check_alloc((size_t)check_size * sizeof *back);
  for (int i = 0; i < check_size; i++) back[i] = check_size - 1 - i;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Group_incl(world, check_size, back, &reversed));
  MUST(MPI_Group_incl(world, 1, &none, &first));
  MUST(MPI_Group_compare(world, reversed, &relation));
  CHECK_EQ(relation, check_size == 1 ? MPI_IDENT : MPI_SIMILAR);
  MUST(MPI_Group_compare(world, first, &relation));
  CHECK_EQ(relation, check_size == 1 ? MPI_IDENT : MPI_UNEQUAL);
  MUST(MPI_Group_compare(MPI_GROUP_EMPTY, first, &relation));
  CHECK_EQ(relation, MPI_UNEQUAL);
  MUST(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &relation));
  CHECK_EQ(relation, MPI_IDENT);
  /* Ranks without a counterpart, and nobody's rank. */
  const int ask[2] = {check_size - 1, MPI_PROC_NULL};
  int answer[2];
  MUST(MPI_Group_translate_ranks(world, 2, ask, first, answer));
  CHECK_EQ(answer[0], check_size == 1 ? 0 : MPI_UNDEFINED);
  CHECK_EQ(answer[1], MPI_PROC_NULL);
  MUST(MPI_Group_translate_ranks(world, 0, NULL, first, NULL));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Group_free(&reversed));
  MUST(MPI_Group_free(&first));
  free(back);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  Random random = {42};
  for (int k = 0; k < 50; k++) set_operations(&random);
  ranges();
  compare();
  return check_end();
}

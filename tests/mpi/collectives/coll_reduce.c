/* Reduce and Allreduce: every predefined operation on every type it is defined for, in place and not, from every root.
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "coll.h"

/* One oracle per operation and C type: fold the contributions of all ranks in rank order. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  const char* name;
  size_t size;
  void (*put)(void* at, int value);            /* writes a contribution */
  void (*fold)(void* inout, const void* next); /* inout = inout op next */
} Case;

#define PUT(tag, T)                            \
  static void put_##tag(void* at, int value) { \
    T v = (T)value;                            \
    memcpy(at, &v, sizeof v);                  \
  }
#define FOLD(tag, T, op, expression)                             \
  static void fold_##tag##_##op(void* inout, const void* next) { \
    T a, b;                                                      \
    memcpy(&a, inout, sizeof a), memcpy(&b, next, sizeof b);     \
    a = (T)(expression);                                         \
    memcpy(inout, &a, sizeof a);                                 \
  }
#define ARITHMETIC(tag, T) \
  PUT(tag, T)              \
  FOLD(tag, T, sum, a + b) FOLD(tag, T, prod, a* b) FOLD(tag, T, max, a > b ? a : b) FOLD(tag, T, min, a < b ? a : b)
#define INTEGER(tag, T)    \
  ARITHMETIC(tag, T)       \
  FOLD(tag, T, band, a& b) \
  FOLD(tag, T, bor, a | b) \
  FOLD(tag, T, bxor, a ^ b) FOLD(tag, T, land, a&& b) FOLD(tag, T, lor, a || b) FOLD(tag, T, lxor, !a != !b)

INTEGER(schar, signed char)
INTEGER(uchar, unsigned char)
INTEGER(short, short)
INTEGER(ushort, unsigned short)
INTEGER(int, int)
INTEGER(unsigned, unsigned)
INTEGER(long, long)
INTEGER(ulong, unsigned long)
INTEGER(llong, long long)
INTEGER(ullong, unsigned long long)
ARITHMETIC(float, float)
ARITHMETIC(double, double)
ARITHMETIC(ldouble, long double)
PUT(fcomplex, float complex)
FOLD(fcomplex, float complex, sum, a + b)
FOLD(fcomplex, float complex, prod, a* b)
PUT(dcomplex, double complex)
FOLD(dcomplex, double complex, sum, a + b)
FOLD(dcomplex, double complex, prod, a* b) static void put_bool(void* at, int value) {
  bool v = value & 1;
  memcpy(at, &v, sizeof v);
}
FOLD(bool, bool, land, a&& b)
FOLD(bool, bool, lor, a || b)
FOLD(bool, bool, lxor, a != b)
/* Value and index: ties go to the lower index. */
#define PAIR(tag, T)                                                        \
  typedef struct {                                                          \
    T v;                                                                    \
    int i;                                                                  \
  } tag;                                                                    \
  static void put_##tag(void* at, int value) {                              \
    tag p;                                                                  \
    memset(&p, 0, sizeof p);                                                \
    p.v = (T)(value / 3);                                                   \
    p.i = value;                                                            \
    memcpy(at, &p, sizeof p);                                               \
  }                                                                         \
  FOLD(tag, tag, maxloc, (a.v > b.v || (a.v == b.v && a.i <= b.i)) ? a : b) \
  FOLD(tag, tag, minloc, (a.v < b.v || (a.v == b.v && a.i <= b.i)) ? a : b)
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(int_int, int)
PAIR(short_int, short)
#define ROW(mpi, T, tag, OP, op) \
  { mpi, MPI_##OP, #tag " " #OP, sizeof(T), put_##tag, fold_##tag##_##op }
#define ROWS4(mpi, T, tag) \
  ROW(mpi, T, tag, SUM, sum), ROW(mpi, T, tag, PROD, prod), ROW(mpi, T, tag, MAX, max), ROW(mpi, T, tag, MIN, min)
#define ROWS10(mpi, T, tag)                                                                                   \
  ROWS4(mpi, T, tag), ROW(mpi, T, tag, BAND, band), ROW(mpi, T, tag, BOR, bor), ROW(mpi, T, tag, BXOR, bxor), \
      ROW(mpi, T, tag, LAND, land), ROW(mpi, T, tag, LOR, lor), ROW(mpi, T, tag, LXOR, lxor)
#define ROWS2(mpi, T, tag) ROW(mpi, T, tag, MAXLOC, maxloc), ROW(mpi, T, tag, MINLOC, minloc)

static const Case* cases(int* n) {
  static const Case all[] = {
      ROWS10(MPI_INT, int, int),
      ROWS4(MPI_DOUBLE, double, double), /* these two first: quick runs look at them only */
      ROWS10(MPI_SIGNED_CHAR, signed char, schar),
      ROWS10(MPI_UNSIGNED_CHAR, unsigned char, uchar),
      ROWS10(MPI_SHORT, short, short),
      ROWS10(MPI_UNSIGNED_SHORT, unsigned short, ushort),
      ROWS10(MPI_UNSIGNED, unsigned, unsigned),
      ROWS10(MPI_LONG, long, long),
      ROWS10(MPI_UNSIGNED_LONG, unsigned long, ulong),
      ROWS10(MPI_LONG_LONG, long long, llong),
      ROWS10(MPI_UNSIGNED_LONG_LONG, unsigned long long, ullong),
      ROWS10(MPI_INT8_T, signed char, schar),
      ROWS10(MPI_UINT8_T, unsigned char, uchar),
      ROWS10(MPI_INT16_T, short, short),
      ROWS10(MPI_UINT16_T, unsigned short, ushort),
      ROWS10(MPI_INT32_T, int, int),
      ROWS10(MPI_UINT32_T, unsigned, unsigned),
      ROWS10(MPI_INT64_T, long, long),
      ROWS10(MPI_UINT64_T, unsigned long, ulong),
      ROWS4(MPI_FLOAT, float, float),
      ROWS4(MPI_LONG_DOUBLE, long double, ldouble),
      ROW(MPI_C_FLOAT_COMPLEX, float complex, fcomplex, SUM, sum),
      ROW(MPI_C_FLOAT_COMPLEX, float complex, fcomplex, PROD, prod),
      ROW(MPI_C_DOUBLE_COMPLEX, double complex, dcomplex, SUM, sum),
      ROW(MPI_C_DOUBLE_COMPLEX, double complex, dcomplex, PROD, prod),
      ROW(MPI_C_BOOL, bool, bool, LAND, land),
      ROW(MPI_C_BOOL, bool, bool, LOR, lor),
      ROW(MPI_C_BOOL, bool, bool, LXOR, lxor),
      ROW(MPI_BYTE, unsigned char, uchar, BAND, band),
      ROW(MPI_BYTE, unsigned char, uchar, BOR, bor),
      ROW(MPI_BYTE, unsigned char, uchar, BXOR, bxor),
      ROW(MPI_AINT, long, long, SUM, sum),
      ROW(MPI_COUNT, long, long, MAX, max),
      ROW(MPI_OFFSET, long, long, MIN, min),
      ROWS2(MPI_FLOAT_INT, float_int, float_int),
      ROWS2(MPI_DOUBLE_INT, double_int, double_int),
      ROWS2(MPI_LONG_INT, long_int, long_int),
      ROWS2(MPI_2INT, int_int, int_int),
      ROWS2(MPI_SHORT_INT, short_int, short_int),
  };
  *n = (int)(sizeof all / sizeof *all);
  return all;
}

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
    /* A long double has bytes that hold no value; a pair may too, at its end. */
    const size_t significant = c->type == MPI_LONG_DOUBLE                             ? 10
                               : c->type == MPI_LONG_INT || c->type == MPI_DOUBLE_INT ? 12
                                                                                      : c->size;
    if (memcmp(is + (size_t)i * c->size, should, significant) != 0 &&
        !(c->type == MPI_SHORT_INT && memcmp(is + (size_t)i * c->size, should, 2) == 0 &&
          memcmp(is + (size_t)i * c->size + 4, should + 4, 4) == 0)) {
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
  const Case* c = cases(&n);
  for (int k = 0; k < n; k++) {
    reduce_one(&c[k], t.comm == MPI_COMM_WORLD ? 1 : 5, t, k % kWays, k);
    if (t.comm != MPI_COMM_WORLD) continue;
    reduce_one(&c[k], k % 2 ? 37 : 1500, t, (k / 2) % kWays, k);
  }
}

static void all_counts(Team t) {
  int n, counts[16];
  const Case* c = cases(&n);
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

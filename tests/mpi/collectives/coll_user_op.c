/* Reductions with operations of the user: order for one that does not commute, types with holes, and what the function
 * is handed. */
#include "coll.h"

/* x -> a x + b modulo a prime: composition is associative and does not commute. */
typedef struct {
  long a, b;
} Affine;

enum { kPrime = 10007 };

static MPI_Datatype expected_type;
static int calls;

static Affine compose(Affine f, Affine g) { return (Affine){f.a * g.a % kPrime, (f.a * g.b + f.b) % kPrime}; }

static void affine_op(void* in, void* inout, int* n, MPI_Datatype* type) {
  const Affine* f = in;
  Affine* g = inout;
  calls++;
  CHECK(*type == expected_type, "the function is handed another datatype than the caller's");
  for (int i = 0; i < *n; i++) g[i] = compose(f[i], g[i]);
}

static Affine affine_of(int rank, int i) { return (Affine){(rank * 31 + i * 7) % 100 + 2, (rank * 17 + i) % 1000 + 1}; }

static int wrong(const Affine* is, int count, int size) {
  for (int i = 0; i < count; i++) {
    Affine should = affine_of(0, i);
    for (int r = 1; r < size; r++) should = compose(should, affine_of(r, i));
    if (is[i].a != should.a || is[i].b != should.b) return i;
  }
  return -1;
}

#define CHECK_AFFINE(is, what)                                                                                \
  do {                                                                                                        \
    const int at = wrong((is), count, t.size);                                                                \
    CHECK(at < 0, "%s, %d ranks, root %d, count %d, way %d: element %d", what, t.size, root, count, way, at); \
  } while (0)

static void not_commutative(Team t) {
  static const int counts[] = {0, 1, 3, 100, 2000, 9000};
  MPI_Op op;
  MPI_Datatype pair;
  int roots[4], commutes = 1;
  const int nroots = roots_of(t.size, roots);
  MUST(MPI_Type_contiguous(2, MPI_LONG, &pair));
  MUST(MPI_Type_commit(&pair));
  MUST(MPI_Op_create(affine_op, 0, &op));
  MUST(MPI_Op_commutative(op, &commutes));
  CHECK(!commutes);
  expected_type = pair;
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (int way = 0; way < kWays; way++) {
      const int count = counts[c];
      Affine* mine = check_alloc((size_t)count * sizeof *mine);
      Affine* result = check_alloc((size_t)count * sizeof *result);
      for (int i = 0; i < count; i++) mine[i] = affine_of(t.rank, i);
      int root = -1;
      COLL(way, MPI_Allreduce, MPI_Iallreduce, mine, result, count, pair, op, t.comm);
      CHECK_AFFINE(result, "allreduce");
      memcpy(result, mine, (size_t)count * sizeof *mine);
      COLL(way, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, result, count, pair, op, t.comm);
      CHECK_AFFINE(result, "allreduce in place");
      for (int k = 0; k < nroots; k++) {
        root = roots[k];
        memset(result, 0, (size_t)count * sizeof *result);
        COLL(way, MPI_Reduce, MPI_Ireduce, mine, result, count, pair, op, root, t.comm);
        if (t.rank == root) CHECK_AFFINE(result, "reduce");
        memcpy(result, mine, (size_t)count * sizeof *mine);
        COLL(way, MPI_Reduce, MPI_Ireduce, t.rank == root ? MPI_IN_PLACE : mine, t.rank == root ? result : NULL, count,
             pair, op, root, t.comm);
        if (t.rank == root) CHECK_AFFINE(result, "reduce in place");
      }
      free(mine);
      free(result);
    }
  CHECK(t.size == 1 || calls > 0 || t.rank != 0, "the function was never called");
  MUST(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
  MUST(MPI_Type_free(&pair));
}

/* Sums of ints that lie every third int: the function steps by the type's extent, and the holes stay as they are. */
static void strided_sum(void* in, void* inout, int* n, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *n; i++) {
    const int* a = (const int*)((const char*)in + i * extent);
    int* b = (int*)((char*)inout + i * extent);
    b[0] += a[0];
    b[2] += a[2];
  }
}

static void with_holes(Team t) {
  MPI_Datatype raw, type;
  MPI_Op op;
  MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &raw)); /* ints 0 and 2 */
  MUST(MPI_Type_create_resized(raw, 0, 4 * (MPI_Aint)sizeof(int), &type));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_Op_create(strided_sum, 1, &op));
  static const int counts[] = {1, 50, 3000};
  for (size_t c = 0; c < 3; c++)
    for (int way = 0; way < kWays; way++) {
      const int count = counts[c];
      int* mine = check_alloc((size_t)count * 4 * sizeof *mine);
      int* result = check_alloc((size_t)count * 4 * sizeof *result);
      for (int i = 0; i < count * 4; i++) mine[i] = t.rank + i, result[i] = -7;
      COLL(way, MPI_Allreduce, MPI_Iallreduce, mine, result, count, type, op, t.comm);
      for (int i = 0; i < count * 4; i++) {
        const int should = i % 2 == 0 ? t.size * i + t.size * (t.size - 1) / 2 : -7;
        if (result[i] != should) {
          CHECK(0, "%d ranks, count %d, way %d: element %d is %d, not %d", t.size, count, way, i, result[i], should);
          break;
        }
      }
      free(mine);
      free(result);
    }
  MUST(MPI_Op_free(&op));
  MUST(MPI_Type_free(&raw));
  MUST(MPI_Type_free(&type));
}

/* Freed while the nonblocking reduction that uses them is under way. */
static void freed_early(Team t) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Request r;
  enum { count = 500 };
  static Affine mine[count], result[count];
  MUST(MPI_Type_contiguous(2, MPI_LONG, &pair));
  MUST(MPI_Type_commit(&pair));
  MUST(MPI_Op_create(affine_op, 0, &op));
  expected_type = pair;
  for (int i = 0; i < count; i++) mine[i] = affine_of(t.rank, i);
  MUST(MPI_Iallreduce(mine, result, count, pair, op, t.comm, &r));
  MUST(MPI_Op_free(&op));
  MUST(MPI_Type_free(&pair));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  const int root = -1, way = 9;
  CHECK_AFFINE(result, "freed early");
}

/* MPI_Reduce_local: in op inout, in that order. */
static void local(void) {
  Affine in = {3, 5}, inout = {7, 11};
  const Affine should = compose(in, inout);
  MPI_Datatype pair;
  MPI_Op op;
  int a[3] = {1, 5, 9}, b[3] = {4, 4, 4};
  MUST(MPI_Type_contiguous(2, MPI_LONG, &pair));
  MUST(MPI_Type_commit(&pair));
  MUST(MPI_Op_create(affine_op, 0, &op));
  expected_type = pair;
  MUST(MPI_Reduce_local(&in, &inout, 1, pair, op));
  CHECK(inout.a == should.a && inout.b == should.b);
  MUST(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_MAX));
  CHECK(b[0] == 4 && b[1] == 5 && b[2] == 9);
  MUST(MPI_Op_free(&op));
  MUST(MPI_Type_free(&pair));
}

static void all(Team t) {
  not_commutative(t);
  with_holes(t);
  freed_early(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  local();
  return check_end();
}

/* Reduce_scatter, Reduce_scatter_block, Scan, Exscan and Alltoallw against sums that each rank works out itself: every
 * form, in place and not, with operations that commute and one that does not, and pieces of different sizes. */
#include "coll.h"

/* x -> a x + b modulo a prime: composition is associative and does not commute. */
typedef struct {
  long a, b;
} Affine;

enum { kPrime = 10007 };

static Affine compose(Affine f, Affine g) { return (Affine){f.a * g.a % kPrime, (f.a * g.b + f.b) % kPrime}; }
static void affine_op(void* in, void* inout, int* n, MPI_Datatype* type) {
  const Affine* f = in;
  Affine* g = inout;
  (void)type;
  for (int i = 0; i < *n; i++) g[i] = compose(f[i], g[i]);
}
static Affine affine_of(int rank, int i) { return (Affine){(rank * 31 + i * 7) % 100 + 2, (rank * 17 + i) % 1000 + 1}; }

static MPI_Op affine;
static MPI_Datatype pair;

/* Of ranks first ... last (both included), item i. */
static Affine composed(int last, int i) {
  Affine all = affine_of(0, i);
  for (int r = 1; r <= last; r++) all = compose(all, affine_of(r, i));
  return all;
}
static long summed(int last, int i) {
  long all = 0;
  for (int r = 0; r <= last; r++) all += element(r, i, 1);
  return all;
}

static int wrong(const void* is, int with_affine, int first, int count, int last) {
  for (int i = 0; i < count; i++) {
    if (with_affine) {
      const Affine should = composed(last, first + i), have = ((const Affine*)is)[i];
      if (have.a != should.a || have.b != should.b) return i;
    } else if (((const long*)is)[i] != summed(last, first + i)) {
      return i;
    }
  }
  return -1;
}
#define CHECK_RESULT(is, first, n, last, what)                                               \
  do {                                                                                       \
    const int at = wrong((is), with_affine, (first), (n), (last));                           \
    CHECK(at < 0, "%s of %d ranks, %d items, way %d, %s: item %d", what, t.size, count, way, \
          with_affine ? "affine" : "sum", at);                                               \
  } while (0)

static void fill(void* to, int with_affine, int rank, int count) {
  for (int i = 0; i < count; i++) {
    if (with_affine)
      ((Affine*)to)[i] = affine_of(rank, i);
    else
      ((long*)to)[i] = element(rank, i, 1);
  }
}

static int piece_of(int rank, int count) { return rank % 3 == 1 ? 0 : (count + rank) % 7 + count / 2; }

static void reductions(Team t, int with_affine, int count, int way) {
  const MPI_Datatype type = with_affine ? pair : MPI_LONG;
  const MPI_Op op = with_affine ? affine : MPI_SUM;
  const size_t item = with_affine ? sizeof(Affine) : sizeof(long);
  int* pieces = check_alloc((size_t)t.size * sizeof(int));
  int total = 0, before = 0;
  for (int r = 0; r < t.size; r++) {
    pieces[r] = piece_of(r, count);
    if (r == t.rank) before = total;
    total += pieces[r];
  }
  const int all = total > count * t.size ? total : count * t.size;
  char* mine = check_alloc((size_t)all * item);
  char* result = check_alloc((size_t)all * item);
  fill(mine, with_affine, t.rank, all);

  COLL(way, MPI_Scan, MPI_Iscan, mine, result, count, type, op, t.comm);
  CHECK_RESULT(result, 0, count, t.rank, "scan");
  memcpy(result, mine, (size_t)count * item);
  COLL(way, MPI_Scan, MPI_Iscan, MPI_IN_PLACE, result, count, type, op, t.comm);
  CHECK_RESULT(result, 0, count, t.rank, "scan in place");

  COLL(way, MPI_Exscan, MPI_Iexscan, mine, result, count, type, op, t.comm);
  if (t.rank > 0) CHECK_RESULT(result, 0, count, t.rank - 1, "exscan");
  memcpy(result, mine, (size_t)count * item);
  COLL(way, MPI_Exscan, MPI_Iexscan, MPI_IN_PLACE, result, count, type, op, t.comm);
  if (t.rank > 0) CHECK_RESULT(result, 0, count, t.rank - 1, "exscan in place");

  COLL(way, MPI_Reduce_scatter, MPI_Ireduce_scatter, mine, result, pieces, type, op, t.comm);
  CHECK_RESULT(result, before, pieces[t.rank], t.size - 1, "reduce_scatter");
  memcpy(result, mine, (size_t)total * item);
  COLL(way, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_IN_PLACE, result, pieces, type, op, t.comm);
  CHECK_RESULT(result, before, pieces[t.rank], t.size - 1, "reduce_scatter in place");

  COLL(way, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, mine, result, count, type, op, t.comm);
  CHECK_RESULT(result, count * t.rank, count, t.size - 1, "reduce_scatter_block");
  memcpy(result, mine, (size_t)(count * t.size) * item);
  COLL(way, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_IN_PLACE, result, count, type, op, t.comm);
  CHECK_RESULT(result, count * t.rank, count, t.size - 1, "reduce_scatter_block in place");
  free(pieces);
  free(mine);
  free(result);
}

/* Every other block is doubles with holes on one side and plain on the other; types are freed while pending. */
static void different_types(Team t, int count, int way) {
  const size_t n = (size_t)t.size;
  int* counts = check_alloc(2 * n * sizeof(int));
  int* displs = check_alloc(2 * n * sizeof(int));
  MPI_Datatype* types = check_alloc(2 * n * sizeof(MPI_Datatype));
  MPI_Datatype vector;
  MUST(MPI_Type_vector(count > 0 ? count : 1, 1, 2, MPI_DOUBLE, &vector));
  MUST(MPI_Type_commit(&vector));
  const size_t room = 2 * (size_t)count + 2;
  double* out = check_alloc(n * room * sizeof *out);
  double* in = check_alloc(n * room * sizeof *in);
  for (size_t i = 0; i < n * room; i++) out[i] = in[i] = -1;
  for (int r = 0; r < t.size; r++) {
    const int outgoing_apart = (t.rank + r) % 2, incoming_apart = (t.rank + r) % 3 == 0;
    displs[r] = (int)((size_t)(t.size - 1 - r) * room * sizeof *out);
    displs[t.size + r] = (int)((size_t)r * room * sizeof *in);
    types[r] = outgoing_apart ? vector : MPI_DOUBLE;
    types[t.size + r] = incoming_apart ? vector : MPI_DOUBLE;
    counts[r] = outgoing_apart ? count > 0 : count;
    counts[t.size + r] = incoming_apart ? count > 0 : count;
    for (int i = 0; i < count; i++)
      out[(size_t)(t.size - 1 - r) * room + (size_t)i * (outgoing_apart ? 2 : 1)] = t.rank * 1000 + r * 10 + i % 7;
  }
  if (way == kBlocking) {
    MUST(MPI_Alltoallw(out, counts, displs, types, in, counts + n, displs + n, types + n, t.comm));
    MUST(MPI_Type_free(&vector));
  } else {
    MPI_Request request;
    MUST(MPI_Ialltoallw(out, counts, displs, types, in, counts + n, displs + n, types + n, t.comm, &request));
    MUST(MPI_Type_free(&vector));
    finish(&request, way);
  }
  for (int r = 0; r < t.size; r++) {
    const int step = (t.rank + r) % 3 == 0 ? 2 : 1;
    for (int i = 0; i < count; i++) {
      const double is = in[(size_t)r * room + (size_t)(i * step)], should = r * 1000 + t.rank * 10 + i % 7;
      if (is != should) {
        CHECK(is == should, "alltoallw of %d ranks, from %d, item %d: %g is not %g", t.size, r, i, is, should);
        break;
      }
    }
  }
  free(counts), free(displs), free(types), free(out), free(in);
}

static void everything(Team t) {
  static const int counts[] = {0, 1, 7, 1000, 9000};
  const int most = check_size > 4 ? 4 : 5;
  for (int c = 0; c < most; c++)
    for (int way = 0; way < kWays; way++) {
      reductions(t, 0, counts[c], way);
      reductions(t, 1, counts[c] > 1000 ? 1000 : counts[c], way);
      different_types(t, counts[c], way);
    }
}

/* A communicator's own choice, by info: used, changed, taken back; a name that does not exist is refused. */
static void own_choice(void) {
  static const char* const names[] = {"linear", "chain", "doubling", ""};
  MPI_Comm comm;
  MPI_Info info;
  int code, class_is = 0;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < 4; i++) {
    int sum = 0;
    MUST(MPI_Info_create(&info));
    MUST(MPI_Info_set(info, "coll.scan.algorithm", names[i]));
    MUST(MPI_Comm_set_info(comm, info));
    MUST(MPI_Info_free(&info));
    MUST(MPI_Scan(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, check_rank * (check_rank + 1) / 2);
  }
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "coll.scan.algorithm", "nosuch"));
  code = MPI_Comm_set_info(comm, info);
  MUST(MPI_Error_class(code, &class_is));
  CHECK_EQ(class_is, MPI_ERR_ARG);
  MUST(MPI_Info_free(&info));
  MUST(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Type_contiguous(2, MPI_LONG, &pair));
  MUST(MPI_Type_commit(&pair));
  MUST(MPI_Op_create(affine_op, 0, &affine));
  on_teams(everything);
  own_choice();
  MUST(MPI_Op_free(&affine));
  MUST(MPI_Type_free(&pair));
  return check_end();
}

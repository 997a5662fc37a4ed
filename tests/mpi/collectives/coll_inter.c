/* Collectives of intercommunicators between two groups of different size: every one, every form, against what each rank
 * works out itself; and what is not allowed on them. */
#include "coll.h"

typedef struct {
  MPI_Comm comm;
  int rank, size, remote, low; /* low: 1 in the group of the low world ranks */
} Sides;

static int value(int low, int rank, int i, int seed) { return element(rank + (low ? 0 : 40), i, seed); }
static int sum_of(int low, int size, int i, int seed) {
  int all = 0;
  for (int r = 0; r < size; r++) all += value(low, r, i, seed);
  return all;
}

#define CHECK_ITEM(what, is, should)                                                                             \
  CHECK((is) == (should), "%s, %d to %d ranks, count %d, way %d, item %d: %d is not %d", what, s.remote, s.size, \
        count, way, i, (is), (should))

static void rooted(Sides s, int count, int way, int root, int root_low) {
  const int sends = s.low == root_low; /* this group has the root */
  const int at_root = sends && s.rank == root;
  const int as = !sends ? root : at_root ? MPI_ROOT : MPI_PROC_NULL;
  const size_t all = (size_t)(count * (s.remote > s.size ? s.remote : s.size));
  int* out = check_alloc(all * sizeof(int));
  int* in = check_alloc(all * sizeof(int));
  int* counts = check_alloc((size_t)s.remote * sizeof(int));
  int* displs = check_alloc((size_t)s.remote * sizeof(int));
  for (size_t i = 0; i < all; i++) {
    out[i] = value(s.low, s.rank, (int)i, 1);
    in[i] = -1;
  }
  for (int r = 0; r < s.remote; r++) {
    counts[r] = count;
    displs[r] = (s.remote - 1 - r) * count;
  }
  int* buffer = at_root ? out : in;
  COLL(way, MPI_Bcast, MPI_Ibcast, buffer, count, MPI_INT, as, s.comm);
  for (int i = 0; i < count && !sends; i++) CHECK_ITEM("bcast", in[i], value(root_low, root, i, 1));
  COLL(way, MPI_Reduce, MPI_Ireduce, out, in, count, MPI_INT, MPI_SUM, as, s.comm);
  for (int i = 0; i < count && at_root; i++) CHECK_ITEM("reduce", in[i], sum_of(!s.low, s.remote, i, 1));
  COLL(way, MPI_Gather, MPI_Igather, out, count, MPI_INT, in, count, MPI_INT, as, s.comm);
  for (int i = 0; i < count * s.remote && at_root; i++)
    CHECK_ITEM("gather", in[i], value(!s.low, i / count, i % count, 1));
  COLL(way, MPI_Gatherv, MPI_Igatherv, out, count, MPI_INT, in, counts, displs, MPI_INT, as, s.comm);
  for (int i = 0; i < count * s.remote && at_root; i++)
    CHECK_ITEM("gatherv", in[i], value(!s.low, s.remote - 1 - i / count, i % count, 1));
  memset(in, 0, all * sizeof(int));
  COLL(way, MPI_Scatter, MPI_Iscatter, out, count, MPI_INT, in, count, MPI_INT, as, s.comm);
  for (int i = 0; i < count && !sends; i++) CHECK_ITEM("scatter", in[i], value(root_low, root, s.rank * count + i, 1));
  COLL(way, MPI_Scatterv, MPI_Iscatterv, out, counts, displs, MPI_INT, in, count, MPI_INT, as, s.comm);
  for (int i = 0; i < count && !sends; i++)
    CHECK_ITEM("scatterv", in[i], value(root_low, root, (s.size - 1 - s.rank) * count + i, 1));
  free(out), free(in), free(counts), free(displs);
}

static void symmetric(Sides s, int count, int way) {
  const int n = s.remote > s.size ? s.remote : s.size;
  const size_t all = (size_t)(count * s.size * s.remote);
  int* out = check_alloc(all * sizeof(int));
  int* in = check_alloc(all * sizeof(int));
  int* counts = check_alloc((size_t)n * sizeof(int));
  int* displs = check_alloc((size_t)n * sizeof(int));
  int* bytes = check_alloc((size_t)n * sizeof(int));
  MPI_Datatype* types = check_alloc((size_t)n * sizeof(MPI_Datatype));
  for (size_t i = 0; i < all; i++) out[i] = value(s.low, s.rank, (int)i, 2);
  for (int r = 0; r < n; r++) {
    counts[r] = count;
    displs[r] = r * count;
    bytes[r] = displs[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  COLL(way, MPI_Barrier, MPI_Ibarrier, s.comm);
  COLL(way, MPI_Allreduce, MPI_Iallreduce, out, in, count, MPI_INT, MPI_SUM, s.comm);
  for (int i = 0; i < count; i++) CHECK_ITEM("allreduce", in[i], sum_of(!s.low, s.remote, i, 2));
  COLL(way, MPI_Allgather, MPI_Iallgather, out, count, MPI_INT, in, count, MPI_INT, s.comm);
  for (int i = 0; i < count * s.remote; i++) CHECK_ITEM("allgather", in[i], value(!s.low, i / count, i % count, 2));
  COLL(way, MPI_Allgatherv, MPI_Iallgatherv, out, count, MPI_INT, in, counts, displs, MPI_INT, s.comm);
  for (int i = 0; i < count * s.remote; i++) CHECK_ITEM("allgatherv", in[i], value(!s.low, i / count, i % count, 2));
  memset(in, 0, all * sizeof(int));
  for (int v = 0; v < 3; v++) {
    if (v == 0) COLL(way, MPI_Alltoall, MPI_Ialltoall, out, count, MPI_INT, in, count, MPI_INT, s.comm);
    if (v == 1)
      COLL(way, MPI_Alltoallv, MPI_Ialltoallv, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, s.comm);
    if (v == 2) COLL(way, MPI_Alltoallw, MPI_Ialltoallw, out, counts, bytes, types, in, counts, bytes, types, s.comm);
    for (int i = 0; i < count * s.remote; i++)
      CHECK_ITEM("alltoall", in[i], value(!s.low, i / count, s.rank * count + i % count, 2));
    memset(in, 0, all * sizeof(int));
  }
  /* The whole vector is as long in both groups. */
  const int mine = count * s.remote, total = mine * s.size;
  for (int r = 0; r < s.size; r++) counts[r] = mine;
  COLL(way, MPI_Reduce_scatter, MPI_Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM, s.comm);
  for (int i = 0; i < mine; i++) CHECK_ITEM("reduce_scatter", in[i], sum_of(!s.low, s.remote, s.rank * mine + i, 2));
  memset(in, 0, (size_t)total * sizeof(int));
  COLL(way, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, out, in, mine, MPI_INT, MPI_SUM, s.comm);
  for (int i = 0; i < mine; i++)
    CHECK_ITEM("reduce_scatter_block", in[i], sum_of(!s.low, s.remote, s.rank * mine + i, 2));
  free(out), free(in), free(counts), free(displs), free(bytes), free(types);
}

/* Two at a time, completed the other way round; and one that is started again and again. */
static void in_flight(Sides s) {
  int a = s.rank + 1, b = 10 * a, sum_a = 0, sum_b = 0;
  MPI_Request first, second, again;
  for (int round = 0; round < 20; round++) {
    MUST(MPI_Iallreduce(&a, &sum_a, 1, MPI_INT, MPI_SUM, s.comm, &first));
    MUST(MPI_Iallreduce(&b, &sum_b, 1, MPI_INT, MPI_SUM, s.comm, &second));
    MUST(MPI_Wait(s.rank % 2 ? &second : &first, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(s.rank % 2 ? &first : &second, MPI_STATUS_IGNORE));
    CHECK_EQ(sum_a, s.remote * (s.remote + 1) / 2);
    CHECK_EQ(sum_b, 10 * s.remote * (s.remote + 1) / 2);
  }
  MUST(MPI_Allreduce_init(&a, &sum_a, 1, MPI_INT, MPI_MAX, s.comm, MPI_INFO_NULL, &again));
  for (int round = 0; round < 5; round++) {
    a = s.rank + round;
    MUST(MPI_Start(&again));
    MUST(MPI_Wait(&again, MPI_STATUS_IGNORE));
    CHECK_EQ(sum_a, s.remote - 1 + round);
  }
  MUST(MPI_Request_free(&again));
}

static int class_of(int code) {
  int class_is = 0;
  MUST(MPI_Error_class(code, &class_is));
  return class_is;
}

static void forbidden(Sides s) {
  int a = 1, b = 0;
  MUST(MPI_Comm_set_errhandler(s.comm, MPI_ERRORS_RETURN));
  CHECK_EQ(class_of(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, s.comm)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, s.comm)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, s.comm)), MPI_ERR_BUFFER);
  CHECK_EQ(class_of(MPI_Bcast(&a, 1, MPI_INT, s.remote, s.comm)), MPI_ERR_ROOT);
  CHECK_EQ(class_of(MPI_Neighbor_allgather(&a, 1, MPI_INT, &b, 1, MPI_INT, s.comm)), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 5, 3000};
  check_start(&argc, &argv);
  if (check_size > 1) {
    const int low = check_rank < (check_size + 2) / 3;
    MPI_Comm local;
    Sides s = {MPI_COMM_NULL, 0, 0, 0, low};
    MUST(MPI_Comm_split(MPI_COMM_WORLD, low, check_rank, &local));
    MUST(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? (check_size + 2) / 3 : 0, 7, &s.comm));
    MUST(MPI_Comm_rank(s.comm, &s.rank));
    MUST(MPI_Comm_size(s.comm, &s.size));
    MUST(MPI_Comm_remote_size(s.comm, &s.remote));
    for (int c = 0; c < 4; c++)
      for (int way = 0; way < kWays; way++) {
        for (int root_low = 0; root_low < 2; root_low++) {
          const int roots = low == root_low ? s.size : s.remote;
          rooted(s, counts[c], way, 0, root_low);
          rooted(s, counts[c], way, roots - 1, root_low);
        }
        symmetric(s, counts[c] > 100 ? 100 : counts[c], way);
      }
    in_flight(s);
    forbidden(s);
    MUST(MPI_Comm_free(&s.comm));
    MUST(MPI_Comm_free(&local));
  }
  return check_end();
}

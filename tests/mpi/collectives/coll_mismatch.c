/* Erroneous programs: the last rank passes other counts than the others, another root, or calls another collective.
 * Without any checking switched on, every rank returns, at least one gets an error where data is passed, and no memory
 * is written beyond what it passed. */
#include "check.h"

enum Kind {
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
};
static const char* const kNames[kKinds] = {
    "bcast",    "gather",    "gatherv",   "scatter", "scatterv",  "allgather",      "allgatherv",
    "alltoall", "alltoallv", "alltoallw", "reduce",  "allreduce", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan"};
enum { kMostRanks = 16, kGuard = 0xee };

static int size, rank;
static int *out, *in;
static size_t room; /* ints in each */

/* How many ints this rank may be given. */
static size_t received(int kind, int count, int root) {
  switch (kind) {
    case kGather:
    case kGatherv:
      return rank == root ? (size_t)count * (size_t)size : 0;
    case kAllgather:
    case kAllgatherv:
    case kAlltoall:
    case kAlltoallv:
    case kAlltoallw:
      return (size_t)count * (size_t)size;
    case kReduce:
      return rank == root ? (size_t)count : 0;
    default:
      return (size_t)count;
  }
}

static int has_counts(int kind) {
  return kind == kGatherv || kind == kScatterv || kind == kAllgatherv || kind == kAlltoallv || kind == kAlltoallw;
}

static int start(int kind, int count, int root, MPI_Comm comm, MPI_Request* r) {
  static int counts[kMostRanks], places[kMostRanks], far_places[kMostRanks];
  static MPI_Datatype types[kMostRanks];
  for (int i = 0; i < size; i++) {
    counts[i] = count;
    places[i] = i * count;
    far_places[i] = i * count * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  switch (kind) {
    case kBcast:
      return MPI_Ibcast(in, count, MPI_INT, root, comm, r);
    case kGather:
      return MPI_Igather(out, count, MPI_INT, in, count, MPI_INT, root, comm, r);
    case kGatherv:
      return MPI_Igatherv(out, count, MPI_INT, in, counts, places, MPI_INT, root, comm, r);
    case kScatter:
      return MPI_Iscatter(out, count, MPI_INT, in, count, MPI_INT, root, comm, r);
    case kScatterv:
      return MPI_Iscatterv(out, counts, places, MPI_INT, in, count, MPI_INT, root, comm, r);
    case kAllgather:
      return MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, comm, r);
    case kAllgatherv:
      return MPI_Iallgatherv(out, count, MPI_INT, in, counts, places, MPI_INT, comm, r);
    case kAlltoall:
      return MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, comm, r);
    case kAlltoallv:
      return MPI_Ialltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm, r);
    case kAlltoallw:
      return MPI_Ialltoallw(out, counts, far_places, types, in, counts, far_places, types, comm, r);
    case kReduce:
      return MPI_Ireduce(out, in, count, MPI_INT, MPI_SUM, root, comm, r);
    case kAllreduce:
      return MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, r);
    case kReduceScatter:
      return MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm, r);
    case kReduceScatterBlock:
      return MPI_Ireduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, comm, r);
    case kScan:
      return MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, comm, r);
    default:
      return MPI_Iexscan(out, in, count, MPI_INT, MPI_SUM, comm, r);
  }
}

/* Blocking calls go another way through the library than nonblocking ones. */
static int call(int kind, int count, int root, MPI_Comm comm) {
  switch (kind) {
    case kBcast:
      return MPI_Bcast(in, count, MPI_INT, root, comm);
    case kGather:
      return MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    case kScatter:
      return MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    case kAllgather:
      return MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
    case kAlltoall:
      return MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    case kReduce:
      return MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
    case kAllreduce:
      return MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
    case kScan:
      return MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
    default: {
      MPI_Request r = MPI_REQUEST_NULL;
      const int code = start(kind, count, root, comm, &r);
      return code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code;
    }
  }
}

static int nonblocking(int kind, int count, int root, MPI_Comm comm) {
  MPI_Request r = MPI_REQUEST_NULL;
  const int code = start(kind, count, root, comm, &r);
  return code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code;
}

/* Set: the last rank calls after the others have waited, and asked it. */
static int late;

/* The last rank's kind, count and root are other ones; `what` says how, for failures. */
static void one(const char* what, int blocking, int kind, int other_kind, int count, int other_count, int root,
                int other_root) {
  const int odd = rank == size - 1;
  const int my_kind = odd ? other_kind : kind, my_count = odd ? other_count : count;
  const int my_root = odd ? other_root : root;
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  memset(in, kGuard, room * sizeof *in);
  if (odd && late) make_progress(0.03);
  const int code = (blocking ? call : nonblocking)(my_kind, my_count, my_root, comm);
  int class = MPI_SUCCESS;
  MUST(MPI_Error_class(code, &class));
  CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT || class == MPI_ERR_ROOT ||
            class == MPI_ERR_OTHER,
        "%s, %s of %d: class %d", what, kNames[my_kind], my_count, class);
  for (size_t i = received(my_kind, my_count, my_root); i < room; i++) {
    if (in[i] == (int)0xeeeeeeee) continue;
    CHECK(0, "%s, %s of %d: int %zu is overwritten", what, kNames[my_kind], my_count, i);
    break;
  }
  int failures = class != MPI_SUCCESS;
  MUST(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  /* A rank that calls with nothing may be one that the others need nothing of. */
  CHECK(failures > 0 || other_count == 0, "%s, %s of %d: nobody noticed", what, kNames[kind], count);
  MUST(MPI_Comm_free(&comm));
}

/* Where all agree again, the next collectives on the same communicator work. */
static void goes_on(void) {
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  MUST(MPI_Barrier(comm)); /* what the ranks share for the communicator is made */
  for (int i = 0; i < 3; i++) {
    int sum = 0, value = rank + i;
    call(kBcast, rank == size - 1 ? 7 : 10, 0, comm);
    MUST(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2 + i * size);
    MUST(MPI_Barrier(comm));
  }
  MUST(MPI_Comm_free(&comm));
}

/* When the first collective of a communicator fails on ranks that are late, on some before and on some after what they
 * share is made, the next ones work or fail, on all ranks alike; none waits for ever. */
static void goes_on_or_ends(void) {
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  call(kBcast, rank == size - 1 ? 7 : 10, 0, comm);
  for (int i = 0; i < 3; i++) {
    int sum = 0, value = rank + i, all_bad = 0;
    int bad = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
    CHECK(bad || sum == size * (size - 1) / 2 + i * size, "a sum of %d on %d ranks", sum, size);
    MUST(MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all_bad == 0 || all_bad == size, "%d of %d ranks can go on", size - all_bad, size);
  }
  MUST(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  static const int counts[] = {10, 300, 300000};
  check_start(&argc, &argv);
  rank = check_rank;
  size = check_size;
  if (size > 1) {
    room = (size_t)300000 * 2 * (size_t)(size + 1);
    out = calloc(room, sizeof *out);
    in = malloc(room * sizeof *in);
    for (int blocking = 0; blocking < 2; blocking++) {
      for (int kind = 0; kind < kKinds; kind++) {
        for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
          one("twice as much", blocking, kind, kind, counts[c], counts[c] * 2, 0, 0);
          one("half as much", blocking, kind, kind, counts[c], counts[c] / 2, 0, 0);
          one("one more", blocking, kind, kind, counts[c], counts[c] + 1, 0, 0);
        }
        late = 1;
        one("twice as much, late", blocking, kind, kind, 300, 600, 0, 0);
        /* Those with counts for each rank compare none of these; who waits for a block that is not sent waits on. */
        if (!has_counts(kind)) one("nothing, late", blocking, kind, kind, 300, 0, 0, 0);
        late = 0;
      }
      one("another root", blocking, kGather, kGather, 10, 10, 0, size - 1);
      one("another collective", blocking, kAllreduce, kAllgather, 10, 10, 0, 0);
      one("another collective", blocking, kAllgather, kScan, 10, 10, 0, 0);
    }
    goes_on();
    for (int i = 0; i < 20; i++) goes_on_or_ends();
    free(in);
    free(out);
  }
  return check_end();
}

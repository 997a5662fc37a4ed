/* Every persistent collective: started again and again with new data in the same buffers, several at once, in an order
 * that differs from rank to rank, with its operation and types freed right after it was made, and never started. */
#include "coll.h"

enum { kKinds = 17, kRounds = 5 };

typedef struct {
  int count;            /* of a block */
  int *out, *in;        /* size blocks each */
  int *counts, *displs; /* of blocks */
  int* bytes;           /* displacements in bytes */
  MPI_Datatype* types;
  MPI_Request request;
} Job;

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static Job make(Team t, int kind, int count, int root, MPI_Info info) {
  const size_t n = (size_t)t.size, all = n * (size_t)count;
  Job j = {count,
           check_alloc(all * sizeof(int)),
           check_alloc(all * sizeof(int)),
           check_alloc(n * sizeof(int)),
           check_alloc(n * sizeof(int)),
           check_alloc(n * sizeof(int)),
           check_alloc(n * sizeof(MPI_Datatype)),
           MPI_REQUEST_NULL};
  MPI_Op op;
  MPI_Datatype type;
  MUST(MPI_Op_create(add, 1, &op));
  MUST(MPI_Type_dup(MPI_INT, &type));
  for (int r = 0; r < t.size; r++) {
    j.counts[r] = count;
    j.displs[r] = r * count;
    j.bytes[r] = r * count * (int)sizeof(int);
    j.types[r] = type;
  }
  MPI_Request* r = &j.request;
  const MPI_Comm c = t.comm;
  switch (kind) {
    case 0:
      MUST(MPI_Barrier_init(c, info, r));
      break;
    case 1:
      MUST(MPI_Bcast_init(j.in, count, type, root, c, info, r));
      break;
    case 2:
      MUST(MPI_Reduce_init(j.out, j.in, count, type, op, root, c, info, r));
      break;
    case 3:
      MUST(MPI_Allreduce_init(j.out, j.in, count, type, op, c, info, r));
      break;
    case 4:
      MUST(MPI_Gather_init(j.out, count, type, j.in, count, type, root, c, info, r));
      break;
    case 5:
      MUST(MPI_Gatherv_init(j.out, count, type, j.in, j.counts, j.displs, type, root, c, info, r));
      break;
    case 6:
      MUST(MPI_Scatter_init(j.out, count, type, j.in, count, type, root, c, info, r));
      break;
    case 7:
      MUST(MPI_Scatterv_init(j.out, j.counts, j.displs, type, j.in, count, type, root, c, info, r));
      break;
    case 8:
      MUST(MPI_Allgather_init(j.out, count, type, j.in, count, type, c, info, r));
      break;
    case 9:
      MUST(MPI_Allgatherv_init(j.out, count, type, j.in, j.counts, j.displs, type, c, info, r));
      break;
    case 10:
      MUST(MPI_Alltoall_init(j.out, count, type, j.in, count, type, c, info, r));
      break;
    case 11:
      MUST(MPI_Alltoallv_init(j.out, j.counts, j.displs, type, j.in, j.counts, j.displs, type, c, info, r));
      break;
    case 12:
      MUST(MPI_Alltoallw_init(j.out, j.counts, j.bytes, j.types, j.in, j.counts, j.bytes, j.types, c, info, r));
      break;
    case 13:
      MUST(MPI_Reduce_scatter_init(j.out, j.in, j.counts, type, op, c, info, r));
      break;
    case 14:
      MUST(MPI_Reduce_scatter_block_init(j.out, j.in, count, type, op, c, info, r));
      break;
    case 15:
      MUST(MPI_Scan_init(j.out, j.in, count, type, op, c, info, r));
      break;
    default:
      MUST(MPI_Exscan_init(j.out, j.in, count, type, op, c, info, r));
      break;
  }
  MUST(MPI_Op_free(&op));
  MUST(MPI_Type_free(&type));
  return j;
}

static int sum_of(int ranks, int i, int seed) {
  int all = 0;
  for (int r = 0; r < ranks; r++) all += element(r, i, seed);
  return all;
}

static void fill(Team t, Job* j, int kind, int root, int seed) {
  for (int i = 0; i < t.size * j->count; i++) {
    j->out[i] = element(t.rank, i, seed);
    j->in[i] = kind == 1 && t.rank == root ? element(root, i, seed) : -1;
  }
}

/* What item i of the result must be; -1: it must not have been touched. */
static int should_be(Team t, int kind, int root, int count, int i, int seed) {
  const int from = count > 0 ? i / count : 0, at = count > 0 ? i % count : 0;
  switch (kind) {
    case 0:
      return -1;
    case 1:
      return i < count || t.rank == root ? element(root, i, seed) : -1;
    case 2:
      return t.rank == root && i < count ? sum_of(t.size, i, seed) : -1;
    case 3:
      return i < count ? sum_of(t.size, i, seed) : -1;
    case 4:
    case 5:
      return t.rank == root ? element(from, at, seed) : -1;
    case 6:
    case 7:
      return i < count ? element(root, t.rank * count + i, seed) : -1;
    case 8:
    case 9:
      return element(from, at, seed);
    case 10:
    case 11:
    case 12:
      return element(from, t.rank * count + at, seed);
    case 13:
    case 14:
      return i < count ? sum_of(t.size, t.rank * count + i, seed) : -1;
    case 15:
      return i < count ? sum_of(t.rank + 1, i, seed) : -1;
    default:
      return i < count && t.rank > 0 ? sum_of(t.rank, i, seed) : -1;
  }
}

static void all_at_once(Team t, int count) {
  Job jobs[kKinds];
  MPI_Request requests[kKinds];
  const int root = t.size - 1;
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering", "false"));
  for (int k = 0; k < kKinds; k++) jobs[k] = make(t, k, count, root, k % 2 ? info : MPI_INFO_NULL);
  MUST(MPI_Info_free(&info));
  for (int round = 0; round < kRounds; round++) {
    for (int k = 0; k < kKinds; k++) fill(t, &jobs[k], k, root, round);
    /* Neither starts nor completions come in the same order everywhere. */
    for (int s = 0; s < kKinds; s++) {
      const int k = (s * 5 + t.rank * 3 + round) % kKinds;
      if (round % 2) {
        MUST(MPI_Start(&jobs[k].request));
      } else {
        requests[s] = jobs[k].request;
      }
    }
    if (round % 2 == 0) MUST(MPI_Startall(kKinds, requests));
    if (round % 3 == 0) {
      for (int k = 0; k < kKinds; k++) requests[k] = jobs[k].request;
      MUST(MPI_Waitall(kKinds, requests, MPI_STATUSES_IGNORE));
    } else {
      for (int s = 0; s < kKinds; s++) {
        const int k = (s * 7 + t.rank) % kKinds;
        MUST(MPI_Wait(&jobs[k].request, MPI_STATUS_IGNORE));
        CHECK(jobs[k].request != MPI_REQUEST_NULL, "a persistent request stays");
      }
    }
    for (int k = 0; k < kKinds; k++)
      for (int i = 0; i < t.size * count; i++) {
        const int should = should_be(t, k, root, count, i, round);
        CHECK(jobs[k].in[i] == should, "kind %d, %d ranks, count %d, round %d, item %d: %d is not %d", k, t.size, count,
              round, i, jobs[k].in[i], should);
      }
  }
  for (int k = 0; k < kKinds; k++) {
    MUST(MPI_Request_free(&jobs[k].request));
    free(jobs[k].out), free(jobs[k].in), free(jobs[k].counts), free(jobs[k].displs), free(jobs[k].bytes);
    free(jobs[k].types);
  }
}

/* Other collectives go on between the starts; a request that is never started does no harm. */
static void among_others(Team t) {
  Job sum = make(t, 3, 8, 0, MPI_INFO_NULL), unused = make(t, 8, 8, 0, MPI_INFO_NULL);
  for (int round = 0; round < 20; round++) {
    int before = t.rank, after = 0;
    fill(t, &sum, 3, 0, round);
    if (round % 3) MUST(MPI_Allreduce(&before, &after, 1, MPI_INT, MPI_MAX, t.comm));
    MUST(MPI_Start(&sum.request));
    MUST(MPI_Allreduce(&before, &after, 1, MPI_INT, MPI_SUM, t.comm));
    MUST(MPI_Wait(&sum.request, MPI_STATUS_IGNORE));
    CHECK_EQ(after, t.size * (t.size - 1) / 2);
    CHECK_EQ(sum.in[3], sum_of(t.size, 3, round));
  }
  MUST(MPI_Request_free(&sum.request));
  MUST(MPI_Request_free(&unused.request));
  CHECK(sum.request == MPI_REQUEST_NULL);
  for (int i = 0; i < 2; i++) {
    Job* j = i ? &sum : &unused;
    free(j->out), free(j->in), free(j->counts), free(j->displs), free(j->bytes), free(j->types);
  }
}

static void everything(Team t) {
  static const int counts[] = {0, 1, 9, 1200, 20000};
  const int most = check_size > 4 ? 4 : 5;
  for (int c = 0; c < most; c++) all_at_once(t, counts[c]);
  among_others(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(everything);
  return check_end();
}

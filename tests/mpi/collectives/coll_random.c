/* Random collectives: coll_random SEED CALLS. Every rank draws the same calls from the seed: which collective, in which
 * form, on which communicator, with which counts, types, roots and operations, in place or not. Ranks describe equal
 * signatures by different types; some calls have no data at all; several nonblocking calls are pending at once, and
 * what they were given (types, operations, communicators) is freed before they are over. What must come out, each rank
 * works out by itself. */
#include <stdint.h>

#include "coll.h"

enum { kMostPending = 4, kGuard = 12345 };

typedef enum {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
} Kind;
static const char* const kNames[] = {"barrier",  "bcast",     "reduce",    "allreduce",      "gather",
                                     "gatherv",  "scatter",   "scatterv",  "allgather",      "allgatherv",
                                     "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block",
                                     "scan",     "exscan"};
typedef enum { kNow, kLater, kAgain, kForms } Form; /* blocking, nonblocking, persistent and started twice */

static uint64_t state;
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static int draw(int below) { return (int)(mix(state++) % (uint64_t)below); }
static int of(uint64_t seed, int below) { return (int)(mix(seed) % (uint64_t)below); }

/* A block's items are integers. They lie in memory one behind the other, or with a gap behind each; and they are
 * described one by one, or by two. */
typedef struct {
  MPI_Datatype type;
  int ints, stride; /* integers in an item; places from one integer to the next */
} Items;
static Items items_of(int which) {
  Items items = {MPI_INT, 1, 1};
  if (which == 0) return items;
  if (which == 1) {
    MUST(MPI_Type_contiguous(2, MPI_INT, &items.type));
    items.ints = 2;
  } else {
    MUST(MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &items.type));
    items.stride = 2;
  }
  MUST(MPI_Type_commit(&items.type));
  return items;
}

/* Operations. The last one is that of maps x -> a x + b, which does not commute: an item is (a, b). */
enum { kSum, kMax, kBxor, kCompose, kOperations };
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint low, extent;
  MPI_Type_get_extent(*type, &low, &extent);
  for (int i = 0; i < *length; i++) {
    unsigned f[2], g[2];
    char* const place = (char*)inout + i * extent;
    memcpy(f, (char*)in + i * extent, sizeof f);
    memcpy(g, place, sizeof g);
    const unsigned both[2] = {f[0] * g[0], f[0] * g[1] + f[1]};
    memcpy(place, both, sizeof both);
  }
}
static void combine(int operation, const int* left, int* right, int n) { /* right = left op right */
  for (int i = 0; i < n; i++) {
    if (operation == kSum) right[i] = (int)((unsigned)left[i] + (unsigned)right[i]);
    if (operation == kMax && left[i] > right[i]) right[i] = left[i];
    if (operation == kBxor) right[i] ^= left[i];
    if (operation == kCompose && i % 2 == 0) {
      const unsigned a = (unsigned)left[i], b = (unsigned)left[i + 1];
      const unsigned c = (unsigned)right[i], d = (unsigned)right[i + 1];
      right[i] = (int)(a * c), right[i + 1] = (int)(a * d + b);
    }
  }
}

typedef struct {
  Kind kind;
  Form form;
  MPI_Comm comm;
  int rank, size, root, in_place, operation, most; /* most: integers of a block */
  uint64_t seed;
  Items items;
  MPI_Op op;
  int *send, *recv, *expected;
  size_t send_places, recv_places;
  int *send_counts, *recv_counts, *send_displs, *recv_displs;
  MPI_Datatype* types;
  MPI_Request request;
} Job;

static int reduces(Kind k) { return k == kReduce || k == kAllreduce || k >= kReduceScatter; }

/* Integers of the block from one rank to another: the same numbers on both sides. */
static int block(const Job* j, int from, int to) {
  uint64_t who;
  switch (j->kind) {
    case kGatherv:
    case kAllgatherv:
      who = (uint64_t)from;
      break;
    case kScatterv:
    case kReduceScatter:
      who = (uint64_t)to;
      break;
    case kAlltoallv:
    case kAlltoallw: /* in place both ways alike */
      who = j->in_place ? (uint64_t)((from < to ? from : to) * 1000 + (from < to ? to : from))
                        : (uint64_t)(from * 1000 + to);
      break;
    default:
      return j->most;
  }
  return of(j->seed * 77 + who, j->most / 2 + 1) * 2;
}
static int value(const Job* j, int from, int to, int i) {
  return (int)(mix(j->seed ^ ((uint64_t)from << 40) ^ ((uint64_t)to << 20) ^ (uint64_t)i) & 0xffff);
}
static void put(const Job* j, int* buffer, int at, int v) { buffer[(size_t)at * (size_t)j->items.stride] = v; }

/* A buffer of `places` integers, all of them the guard value. */
static int* guarded(size_t places) {
  int* const memory = check_alloc((places + 1) * sizeof(int));
  for (size_t i = 0; i <= places; i++) memory[i] = kGuard;
  return memory;
}
static size_t places_of(const Job* j, int ints) { return (size_t)ints * (size_t)j->items.stride + 2; }

/* Blocks of every partner one behind the other, in an order of their own, with gaps between them. */
static int lay_out(const Job* j, int outgoing, int* counts, int* displs, int spread) {
  int at = 0;
  for (int n = 0; n < j->size; n++) {
    const int r = spread ? (n * 5 + 3) % j->size : n;
    const int partner = spread && j->size % 5 == 0 ? n : r; /* 5 must not divide the size to reach all */
    const int ints = outgoing ? block(j, j->rank, partner) : block(j, partner, j->rank);
    counts[partner] = ints / j->items.ints;
    displs[partner] = at / j->items.ints;
    at += ints + (spread ? 2 : 0);
  }
  return at;
}

static void fill_moves(Job* j) {
  const int n = j->size, me = j->rank, root = me == j->root;
  const int spread = j->kind == kGatherv || j->kind == kScatterv || j->kind == kAllgatherv || j->kind == kAlltoallv ||
                     j->kind == kAlltoallw;
  const int gathers = j->kind == kGather || j->kind == kGatherv, scatters = j->kind == kScatter || j->kind == kScatterv;
  const int all_send = j->kind >= kAlltoall, to_all = j->kind == kAllgather || j->kind == kAllgatherv;
  int out = block(j, me, 0), in = block(j, j->root, me);
  if (scatters || all_send) out = lay_out(j, 1, j->send_counts, j->send_displs, spread);
  if (gathers || to_all || all_send) in = lay_out(j, 0, j->recv_counts, j->recv_displs, spread);
  j->send_places = places_of(j, out), j->recv_places = places_of(j, in);
  j->send = guarded(j->send_places), j->recv = guarded(j->recv_places), j->expected = guarded(j->recv_places);
  if (j->kind == kBcast) {
    for (int i = 0; i < j->most; i++) {
      if (root) put(j, j->recv, i, value(j, j->root, 0, i));
      put(j, j->expected, i, value(j, j->root, 0, i));
    }
    return;
  }
  for (int r = 0; r < n; r++) {
    const int sends = scatters ? root : all_send ? 1 : r == 0;
    const int gets = gathers ? root : scatters ? r == me : 1;
    const int out_at = scatters || all_send ? j->send_displs[r] * j->items.ints : 0;
    const int in_at = scatters ? 0 : j->recv_displs[r] * j->items.ints;
    const int from = scatters ? j->root : r, to = all_send ? me : scatters ? me : 0;
    for (int i = 0; sends && i < block(j, me, scatters || all_send ? r : 0); i++)
      put(j, j->send, out_at + i, value(j, me, scatters || all_send ? r : 0, i));
    for (int i = 0; gets && i < block(j, from, scatters ? me : all_send ? me : 0); i++)
      put(j, j->expected, in_at + i, value(j, from, to, i));
  }
  if (!j->in_place) return;
  for (int r = 0; r < n; r++) { /* what is in place lies in the receive buffer before the call */
    if (!(all_send || ((gathers ? root : to_all) && r == me))) continue;
    for (int i = 0; i < block(j, me, all_send ? r : 0); i++)
      put(j, j->recv, j->recv_displs[r] * j->items.ints + i, value(j, me, all_send ? r : 0, i));
  }
  if (scatters && root) { /* its own block stays where it is */
    for (size_t i = 0; i < j->recv_places; i++) j->expected[i] = kGuard;
  }
}

static void fill_reduction(Job* j) {
  const int n = j->size, me = j->rank;
  const int pieces = j->kind == kReduceScatter || j->kind == kReduceScatterBlock;
  int all = pieces ? 0 : j->most, begin = 0, mine = j->most;
  for (int r = 0; r < n; r++) {
    j->recv_counts[r] = block(j, 0, r) / j->items.ints;
    if (!pieces) continue;
    if (r == me) begin = all, mine = block(j, 0, r);
    all += block(j, 0, r);
  }
  const int gets = (j->kind != kReduce || me == j->root) && !(j->kind == kExscan && me == 0);
  const int in_place = j->in_place && (j->kind != kReduce || me == j->root);
  j->send_places = places_of(j, all), j->recv_places = places_of(j, in_place ? all : mine);
  j->send = guarded(j->send_places), j->recv = guarded(j->recv_places), j->expected = guarded(j->recv_places);
  int* const result = check_alloc((size_t)(all + 1) * sizeof(int));
  int* const next = check_alloc((size_t)(all + 1) * sizeof(int));
  const int last = j->kind == kScan ? me : j->kind == kExscan ? me - 1 : n - 1;
  for (int r = last; r >= 0; r--) { /* a[0] op (a[1] op ...): all of them are associative */
    for (int i = 0; i < all; i++) next[i] = value(j, r, 0, i);
    if (r < last) combine(j->operation, next, result, all);
    if (r == last) memcpy(result, next, (size_t)all * sizeof(int));
  }
  for (int i = 0; i < all; i++) put(j, in_place ? j->recv : j->send, i, value(j, me, 0, i));
  if (in_place) memcpy(j->expected, j->recv, j->recv_places * sizeof(int));
  for (int i = 0; gets && i < mine; i++) put(j, j->expected, i, result[begin + i]);
  free(result), free(next);
}

/* CALL(name, arguments...): the call in the form of the job. */
#define CALL(Blocking, Nonblocking, Persistent, ...)                                  \
  do {                                                                                \
    if (j->form == kNow) MUST(Blocking(__VA_ARGS__));                                 \
    if (j->form == kLater) MUST(Nonblocking(__VA_ARGS__, &j->request));               \
    if (j->form == kAgain) MUST(Persistent(__VA_ARGS__, MPI_INFO_NULL, &j->request)); \
  } while (0)

static void call(Job* j) {
  const void* const send = j->in_place ? MPI_IN_PLACE : j->send;
  const MPI_Datatype t = j->items.type;
  const int count = j->most / j->items.ints, root = j->rank == j->root;
  const MPI_Comm c = j->comm;
  int* const sd = j->send_displs;
  int* const rd = j->recv_displs;
  switch (j->kind) {
    case kBarrier:
      CALL(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, c);
      break;
    case kBcast:
      CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, j->recv, count, t, j->root, c);
      break;
    case kReduce:
      CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, j->in_place && root ? MPI_IN_PLACE : j->send, j->recv, count, t,
           j->op, j->root, c);
      break;
    case kAllreduce:
      CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, send, j->recv, count, t, j->op, c);
      break;
    case kGather:
      CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, j->in_place && root ? MPI_IN_PLACE : j->send, count, t, j->recv,
           count, t, j->root, c);
      break;
    case kGatherv:
      CALL(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, j->in_place && root ? MPI_IN_PLACE : j->send,
           block(j, j->rank, 0) / j->items.ints, t, j->recv, j->recv_counts, rd, t, j->root, c);
      break;
    case kScatter:
      CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, j->send, count, t, j->in_place && root ? MPI_IN_PLACE : j->recv,
           count, t, j->root, c);
      break;
    case kScatterv:
      CALL(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, j->send, j->send_counts, sd, t,
           j->in_place && root ? MPI_IN_PLACE : j->recv, block(j, j->root, j->rank) / j->items.ints, t, j->root, c);
      break;
    case kAllgather:
      CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, send, count, t, j->recv, count, t, c);
      break;
    case kAllgatherv:
      CALL(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, send, block(j, j->rank, 0) / j->items.ints, t, j->recv,
           j->recv_counts, rd, t, c);
      break;
    case kAlltoall:
      CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, send, count, t, j->recv, count, t, c);
      break;
    case kAlltoallv:
      CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, send, j->send_counts, sd, t, j->recv, j->recv_counts, rd,
           t, c);
      break;
    case kAlltoallw: /* displacements in bytes */
      for (int r = 0; r < j->size; r++) {
        const int bytes = j->items.ints * j->items.stride * (int)sizeof(int);
        sd[r] *= bytes, rd[r] *= bytes, j->types[r] = t;
      }
      CALL(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, send, j->send_counts, sd, j->types, j->recv,
           j->recv_counts, rd, j->types, c);
      break;
    case kReduceScatter:
      CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, send, j->recv, j->recv_counts, t, j->op,
           c);
      break;
    case kReduceScatterBlock:
      CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, send, j->recv, count, t,
           j->op, c);
      break;
    case kScan:
      CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, send, j->recv, count, t, j->op, c);
      break;
    default:
      CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, send, j->recv, count, t, j->op, c);
      break;
  }
}

static void begin(Job* j) {
  memset(j, 0, sizeof *j);
  j->request = MPI_REQUEST_NULL;
  j->kind = (Kind)draw(kKinds);
  j->form = (Form)draw(kForms);
  j->seed = mix(state++);
  const int shape = draw(3), which = draw(4), size_class = draw(8), same = draw(2);
  j->operation = draw(kOperations);
  j->in_place = draw(3) == 0 && j->kind != kBarrier && j->kind != kBcast;
  const uint64_t root = mix(state++), length = mix(state++);
  /* The world, everyone in another order, or two parts. Always a communicator of its own: it is freed while in use. */
  MUST(
      MPI_Comm_split(MPI_COMM_WORLD, shape == 2 ? check_rank % 2 : 0, shape == 1 ? -check_rank : check_rank, &j->comm));
  MUST(MPI_Comm_rank(j->comm, &j->rank));
  MUST(MPI_Comm_size(j->comm, &j->size));
  j->root = (int)(root % (uint64_t)j->size);
  static const int kMost[] = {0, 2, 6, 14, 40, 600, 5000, 40000};
  j->most = (int)(length % (uint64_t)(kMost[size_class] / 2 + 1)) * 2;
  if (j->size > 4 && j->most > 6000) j->most = 6000;
  if (reduces(j->kind)) { /* all describe their vectors alike */
    j->items = items_of(j->operation == kCompose ? 1 : same ? 0 : 2);
    if (j->operation != kCompose) j->op = j->operation == kSum ? MPI_SUM : j->operation == kMax ? MPI_MAX : MPI_BXOR;
    if (j->operation == kCompose) MUST(MPI_Op_create(compose, 0, &j->op));
    /* Predefined operations take predefined types only. */
    if (j->operation != kCompose && !same) {
      MUST(MPI_Type_free(&j->items.type));
      j->items = items_of(0);
    }
  } else {
    j->items = items_of(same ? which % 3 : (which + j->rank) % 3);
  }
  j->send_counts = check_alloc((size_t)j->size * sizeof(int)),
  j->recv_counts = check_alloc((size_t)j->size * sizeof(int));
  j->send_displs = check_alloc((size_t)j->size * sizeof(int)),
  j->recv_displs = check_alloc((size_t)j->size * sizeof(int));
  j->types = check_alloc((size_t)j->size * sizeof *j->types);
  if (j->kind != kBarrier) reduces(j->kind) ? fill_reduction(j) : fill_moves(j);
  call(j);
  if (j->form == kAgain) MUST(MPI_Start(&j->request));
  if (j->items.type != MPI_INT) MUST(MPI_Type_free(&j->items.type));
  if (reduces(j->kind) && j->operation == kCompose) MUST(MPI_Op_free(&j->op));
  if (j->form != kAgain) MUST(MPI_Comm_free(&j->comm));
}

static void check(const Job* j, int number) {
  for (size_t i = 0; j->kind != kBarrier && i < j->recv_places; i++) {
    if (j->recv[i] == j->expected[i]) continue;
    CHECK(0,
          "call %d, %s, form %d, %d ranks, rank %d, root %d, most %d, %s, operation %d, stride %d: place %zu is %d, "
          "not %d",
          number, kNames[j->kind], (int)j->form, j->size, j->rank, j->root, j->most, j->in_place ? "in place" : "apart",
          j->operation, j->items.stride, i, j->recv[i], j->expected[i]);
    return;
  }
}

static void end(Job* j, int number) {
  /* What a persistent call finds in its buffers the second time: the same as the first. */
  int* const before = j->form == kAgain && j->kind != kBarrier ? guarded(j->recv_places) : NULL;
  if (j->request != MPI_REQUEST_NULL) MUST(MPI_Wait(&j->request, MPI_STATUS_IGNORE));
  check(j, number);
  if (j->form == kAgain) {
    if (before != NULL && !j->in_place && j->kind != kBcast) {
      memcpy(j->recv, before, j->recv_places * sizeof(int));
      MUST(MPI_Start(&j->request));
      MUST(MPI_Wait(&j->request, MPI_STATUS_IGNORE));
      check(j, number);
    }
    MUST(MPI_Request_free(&j->request));
    MUST(MPI_Comm_free(&j->comm));
  }
  free(before), free(j->send), free(j->recv), free(j->expected), free(j->send_counts), free(j->recv_counts);
  free(j->send_displs), free(j->recv_displs), free(j->types);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int calls = argc > 2 ? atoi(argv[2]) : 200;
  state = argc > 1 ? strtoull(argv[1], NULL, 10) << 32 : 0;
  Job pending[kMostPending];
  int first = 0, count = 0;
  for (int n = 0; n < calls; n++) {
    /* Sometimes several are pending; the oldest is waited for first. */
    while (count == kMostPending || (count > 0 && draw(2) == 0)) {
      end(&pending[first], n - count);
      first = (first + 1) % kMostPending, --count;
    }
    begin(&pending[(first + count++) % kMostPending]);
  }
  for (; count > 0; count--, first = (first + 1) % kMostPending) end(&pending[first], calls - count);
  return check_end();
}

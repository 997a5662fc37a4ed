/* Neighbourhood collectives on grids, closed and open, down to one and two ranks along a dimension, and on graphs with
 * edges to oneself and several between the same two ranks: every form. */
#include "coll.h"

enum { kMost = 256, kManyEdges = 120 };

/* What rank `from` sends over its outgoing edge number `edge`. */
static int value(int from, int edge, int i) { return from * 100000 + edge * 100 + i % 97; }

typedef struct {
  MPI_Comm comm;
  int rank, in, out;
  int sources[kMost], destinations[kMost];
  int edges[kMost]; /* of each incoming edge: its number at the source */
} Place;

/* Room for a block of every edge, and of the one beside it. */
static int* blocks_of(Place p, int count) {
  const size_t edges = (size_t)(p.in > p.out ? p.in : p.out) / 2 * 2 + 2;
  int* const blocks = calloc(edges * (size_t)count + 1, sizeof *blocks);
  CHECK(blocks != NULL, "no memory");
  return blocks;
}

static void exchange(Place p, int count, int way) {
  int *out = blocks_of(p, count), *in = blocks_of(p, count), counts[kMost], displs[kMost];
  MPI_Aint bytes[kMost];
  MPI_Datatype types[kMost];
  for (int e = 0; e < kMost; e++) {
    counts[e] = count;
    displs[e] = (e ^ 1) * count;
    bytes[e] = (MPI_Aint)((size_t)e * (size_t)count * sizeof(int));
    types[e] = MPI_INT;
  }
  for (int kind = 0; kind < 5; kind++) {
    const int same = kind < 2, reversed = kind == 1 || kind == 3;
    for (int i = 0; i < ((p.in + 1) & ~1) * count; i++) in[i] = -1;
    for (int e = 0; e < p.out; e++)
      for (int i = 0; i < count; i++)
        out[(kind == 3 ? e ^ 1 : e) * count + i] = same ? value(p.rank, 0, i) : value(p.rank, e, i);
    if (same)
      for (int i = 0; i < count; i++) out[i] = value(p.rank, 0, i);
    if (kind == 0)
      COLL(way, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, out, count, MPI_INT, in, count, MPI_INT, p.comm);
    if (kind == 1)
      COLL(way, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, out, count, MPI_INT, in, counts, displs, MPI_INT,
           p.comm);
    if (kind == 2)
      COLL(way, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, out, count, MPI_INT, in, count, MPI_INT, p.comm);
    if (kind == 3)
      COLL(way, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, out, counts, displs, MPI_INT, in, counts, displs,
           MPI_INT, p.comm);
    if (kind == 4)
      COLL(way, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, out, counts, bytes, types, in, counts, bytes, types,
           p.comm);
    for (int e = 0; e < p.in; e++)
      for (int i = 0; i < count; i++) {
        const int is = in[(reversed ? e ^ 1 : e) * count + i];
        const int should = p.sources[e] == MPI_PROC_NULL ? -1 : value(p.sources[e], same ? 0 : p.edges[e], i);
        CHECK(is == should, "kind %d, count %d, way %d, neighbour %d (rank %d): %d is not %d", kind, count, way, e,
              p.sources[e], is, should);
      }
  }
  free(out);
  free(in);
}

/* Every second item of the receive buffer, in blocks of several sizes. */
static void strided(Place p) {
  enum { kItems = 3000 };
  int* const out = blocks_of(p, kItems);
  int* const in = blocks_of(p, 2 * kItems);
  int counts[kMost], ones[kMost];
  MPI_Aint from[kMost], to[kMost];
  MPI_Datatype ints[kMost], gaps[kMost], gap;
  MUST(MPI_Type_vector(kItems, 1, 2, MPI_INT, &gap));
  MUST(MPI_Type_commit(&gap));
  for (int e = 0; e < kMost; e++) {
    counts[e] = kItems;
    ones[e] = 1;
    from[e] = e * (MPI_Aint)(kItems * sizeof(int));
    to[e] = 2 * from[e];
    ints[e] = MPI_INT;
    gaps[e] = gap;
  }
  for (int e = 0; e < p.out; e++)
    for (int i = 0; i < kItems; i++) out[e * kItems + i] = value(p.rank, e, i);
  for (int i = 0; i < p.in * 2 * kItems; i++) in[i] = -1;
  MUST(MPI_Neighbor_alltoallw(out, counts, from, ints, in, ones, to, gaps, p.comm));
  for (int e = 0; e < p.in; e++)
    for (int i = 0; i < 2 * kItems; i++) {
      const int should = p.sources[e] == MPI_PROC_NULL || i % 2 != 0 ? -1 : value(p.sources[e], p.edges[e], i / 2);
      CHECK_EQ(in[e * 2 * kItems + i], should);
    }
  MUST(MPI_Type_free(&gap));
  free(out);
  free(in);
}

/* Many at once, of small blocks and of large ones, completed from the last to the first. */
static void in_flight(Place p) {
  enum { kCalls = 12 };
  int *out[kCalls], *in[kCalls];
  MPI_Request requests[kCalls];
  for (int c = 0; c < kCalls; c++) {
    const int count = c % 3 == 0 ? 20000 : c;
    out[c] = blocks_of(p, count);
    in[c] = blocks_of(p, count);
    for (int e = 0; e < p.out; e++)
      for (int i = 0; i < count; i++) out[c][e * count + i] = value(p.rank, e, i + c);
    MUST(MPI_Ineighbor_alltoall(out[c], count, MPI_INT, in[c], count, MPI_INT, p.comm, &requests[c]));
  }
  for (int c = kCalls - 1; c >= 0; c--) {
    const int count = c % 3 == 0 ? 20000 : c;
    MUST(MPI_Wait(&requests[c], MPI_STATUS_IGNORE));
    for (int e = 0; e < p.in; e++)
      for (int i = 0; p.sources[e] != MPI_PROC_NULL && i < count; i++)
        CHECK_EQ(in[c][e * count + i], value(p.sources[e], p.edges[e], i + c));
    free(out[c]);
    free(in[c]);
  }
}

static void again(Place p) {
  int out[kMost] = {0}, in[kMost];
  MPI_Request request;
  MUST(MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, p.comm, MPI_INFO_NULL, &request));
  for (int round = 0; round < 4; round++) {
    for (int e = 0; e < p.out; e++) out[e] = value(p.rank, e, round);
    MUST(MPI_Start(&request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int e = 0; e < p.in; e++)
      if (p.sources[e] != MPI_PROC_NULL) CHECK_EQ(in[e], value(p.sources[e], p.edges[e], round));
  }
  MUST(MPI_Request_free(&request));
}

static void all_forms(Place p) {
  for (int count = 0; count <= 8; count += 4)
    for (int way = 0; way < kWays; way++) exchange(p, count, way);
  again(p);
  if (p.in < kManyEdges) {
    for (int way = 0; way < kWays; way++) exchange(p, 5000, way);
    exchange(p, 90001, check_rank % kWays); /* one call may be served by different forms of it */
    exchange(p, 300000, kBlocking);
    strided(p);
    in_flight(p);
  }
  MUST(MPI_Comm_free(&p.comm));
}

static void grid(int dimensions, int closed) {
  int dims[3] = {0, 0, 0}, periods[3] = {closed, closed, closed};
  Place p;
  MUST(MPI_Dims_create(check_size, dimensions, dims));
  MUST(MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &p.comm));
  MUST(MPI_Comm_rank(p.comm, &p.rank));
  p.in = p.out = 2 * dimensions;
  for (int d = 0; d < dimensions; d++) {
    MUST(MPI_Cart_shift(p.comm, d, 1, &p.sources[2 * d], &p.sources[2 * d + 1]));
    p.destinations[2 * d] = p.sources[2 * d];
    p.destinations[2 * d + 1] = p.sources[2 * d + 1];
    /* What comes from below was sent upwards. */
    p.edges[2 * d] = 2 * d + 1;
    p.edges[2 * d + 1] = 2 * d;
  }
  all_forms(p);
}

/* Rank r sends to r + 1 twice, to 2 r, and to itself; every rank finds out who sends to it. */
static void graph(void) {
  Place p;
  const int n = check_size;
  p.rank = check_rank;
  p.in = 0;
  p.out = 4;
  for (int r = 0; r < n; r++) {
    const int to[4] = {(r + 1) % n, (r + 1) % n, 2 * r % n, r};
    for (int e = 0; e < 4; e++) {
      if (r == check_rank) p.destinations[e] = to[e];
      if (to[e] != check_rank) continue;
      p.sources[p.in] = r;
      p.edges[p.in++] = e;
    }
  }
  int weights[kMost] = {0};
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p.in, p.sources, weights, p.out, p.destinations, weights,
                                      MPI_INFO_NULL, 0, &p.comm));
  all_forms(p);
}

/* More edges to the next rank than may have room in small tables. */
static void crowd(void) {
  Place p = {.rank = check_rank, .in = kManyEdges, .out = kManyEdges};
  int weights[kMost] = {0};
  for (int e = 0; e < kManyEdges; e++) {
    p.destinations[e] = (check_rank + 1) % check_size;
    p.sources[e] = (check_rank + check_size - 1) % check_size;
    p.edges[e] = e;
  }
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p.in, p.sources, weights, p.out, p.destinations, weights,
                                      MPI_INFO_NULL, 0, &p.comm));
  all_forms(p);
}

static int class_of(int code) {
  int class_is = 0;
  MUST(MPI_Error_class(code, &class_is));
  return class_is;
}

static void mistakes(void) {
  int a = 1, b[2], counts[2] = {1, -1}, displs[2] = {0, 1}, periods[1] = {1};
  MPI_Aint bytes[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Comm ring;
  CHECK_EQ(class_of(MPI_Neighbor_alltoall(&a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD)), MPI_ERR_TOPOLOGY);
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, periods, 0, &ring));
  MUST(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  CHECK_EQ(class_of(MPI_Neighbor_allgatherv(&a, 1, MPI_INT, b, counts, displs, MPI_INT, ring)), MPI_ERR_COUNT);
  counts[1] = 1;
  CHECK_EQ(class_of(MPI_Neighbor_alltoallw(b, counts, bytes, types, b, counts, bytes, types, ring)), MPI_ERR_TYPE);
  MUST(MPI_Comm_free(&ring));
}

/* What is longer than its receiver expects stays away from the buffer's neighbours. */
static void too_long(void) {
  int periods[1] = {1};
  MPI_Comm ring;
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, periods, 0, &ring));
  MUST(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  for (int count = 1; count <= 30000; count *= 30) {
    int* const out = calloc(4 * (size_t)count, sizeof *out);
    int* const in = calloc(4 * (size_t)count, sizeof *in);
    const int class_is = class_of(MPI_Neighbor_alltoall(out, 2 * count, MPI_INT, in, count, MPI_INT, ring));
    /* check.datatypes sees it before. */
    CHECK(class_is == MPI_ERR_TRUNCATE || class_is == MPI_ERR_TYPE, "the class is %d", class_is);
    for (int i = 2 * count; i < 4 * count; i++) CHECK_EQ(in[i], 0);
    free(out);
    free(in);
  }
  MUST(MPI_Comm_free(&ring));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    grid(dimensions, 1);
    grid(dimensions, 0);
  }
  graph();
  crowd();
  mistakes();
  too_long();
  return check_end();
}

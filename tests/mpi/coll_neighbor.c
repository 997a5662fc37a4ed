/* Neighbourhood collectives on grids, closed and open, down to one and two ranks along a dimension, and on graphs with
 * edges to oneself and several between the same two ranks: every form. */
#include "coll.h"

enum { kMost = 64 };

/* What rank `from` sends over its outgoing edge number `edge`. */
static int value(int from, int edge, int i) { return from * 1000 + edge * 100 + i % 50; }

typedef struct {
  MPI_Comm comm;
  int rank, in, out;
  int sources[kMost], destinations[kMost];
  int edges[kMost]; /* of each incoming edge: its number at the source */
} Place;

static void exchange(Place p, int count, int way) {
  int out[kMost * 8] = {0}, in[kMost * 8], counts[kMost], displs[kMost];
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
    for (int i = 0; i < kMost * 8; i++) in[i] = -1;
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

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    grid(dimensions, 1);
    grid(dimensions, 0);
  }
  graph();
  mistakes();
  return check_end();
}

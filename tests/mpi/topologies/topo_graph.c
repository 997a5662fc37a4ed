/* Graphs known whole, and distributed graphs given by their own edges or by anyone's, with weights. */
#include "check.h"

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

/* Node i of n: the one before, itself, and the one after twice. */
static void whole(int n, int reorder) {
  int* index = check_alloc((size_t)n * sizeof *index);
  int* edges = check_alloc((size_t)n * 4 * sizeof *edges);
  for (int i = 0; i < n; i++) {
    index[i] = 4 * (i + 1);
    edges[4 * i] = (i + n - 1) % n;
    edges[4 * i + 1] = i;
    edges[4 * i + 2] = edges[4 * i + 3] = (i + 1) % n;
  }
  MPI_Comm graph;
  MUST(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, reorder, &graph));
  if (!reorder) CHECK_EQ(graph != MPI_COMM_NULL, check_rank < n);
  if (graph != MPI_COMM_NULL) {
    int form, nodes, all, got_index[64], got_edges[256], rank;
    MUST(MPI_Comm_rank(graph, &rank));
    MUST(MPI_Topo_test(graph, &form));
    CHECK_EQ(form, MPI_GRAPH);
    MUST(MPI_Graphdims_get(graph, &nodes, &all));
    CHECK_EQ(nodes, n);
    CHECK_EQ(all, 4 * n);
    MUST(MPI_Graph_get(graph, n, 4 * n, got_index, got_edges));
    for (int i = 0; i < n; i++) CHECK_EQ(got_index[i], index[i]);
    for (int i = 0; i < 4 * n; i++) CHECK_EQ(got_edges[i], edges[i]);
    for (int r = 0; r < n; r++) {
      int count, neighbours[4] = {-1, -1, -1, -1};
      MUST(MPI_Graph_neighbors_count(graph, r, &count));
      CHECK_EQ(count, 4);
      MUST(MPI_Graph_neighbors(graph, r, 3, neighbours));
      for (int i = 0; i < 3; i++) CHECK_EQ(neighbours[i], edges[4 * r + i]);
      CHECK_EQ(neighbours[3], -1);
    }
    MUST(MPI_Comm_free(&graph));
  }
  int mapped;
  MUST(MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, &mapped));
  CHECK(mapped == MPI_UNDEFINED || (mapped >= 0 && mapped < n));
  free(index);
  free(edges);
}

/* MPI 1.1, example 6.3: a shuffle-exchange network of 2^n nodes, and the permutations along its edges. */
static void shuffle_exchange(void) {
  int bits = 0;
  while (2 << bits <= check_size) bits++;
  const int n = 1 << bits;
  int index[64], edges[192];
  for (int i = 0; i < n; i++) {
    index[i] = 3 * (i + 1);
    edges[3 * i] = i ^ 1;                                               /* exchange */
    edges[3 * i + 1] = bits ? (i << 1 & (n - 1)) | i >> (bits - 1) : 0; /* shuffle: the bits turned left */
    edges[3 * i + 2] = bits ? i >> 1 | (i & 1) << (bits - 1) : 0;       /* unshuffle */
    if (n == 1) edges[3 * i] = 0;
  }
  MPI_Comm net;
  MUST(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &net));
  if (net == MPI_COMM_NULL) return;
  int neighbours[3], value = check_rank;
  MUST(MPI_Graph_neighbors(net, check_rank, 3, neighbours));
  MUST(MPI_Sendrecv_replace(&value, 1, MPI_INT, neighbours[0], 0, neighbours[0], 0, net, MPI_STATUS_IGNORE));
  CHECK_EQ(value, neighbours[0]);
  value = check_rank;
  MUST(MPI_Sendrecv_replace(&value, 1, MPI_INT, neighbours[1], 0, neighbours[2], 0, net, MPI_STATUS_IGNORE));
  CHECK_EQ(value, neighbours[2]);
  value = check_rank;
  MUST(MPI_Sendrecv_replace(&value, 1, MPI_INT, neighbours[2], 0, neighbours[1], 0, net, MPI_STATUS_IGNORE));
  CHECK_EQ(value, neighbours[1]);
  MUST(MPI_Comm_free(&net));
}

static void adjacent(int reorder) {
  const int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size;
  const int sources[2] = {left, check_rank}, in_weights[2] = {10 + left, 3};
  const int targets[2] = {right, check_rank}, out_weights[2] = {10 + check_rank, 3};
  MPI_Comm graph;
  int in, out, weighted, s[3], sw[3], d[3], dw[3], form;
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in_weights, 2, targets, out_weights, MPI_INFO_NULL,
                                      reorder, &graph));
  MUST(MPI_Topo_test(graph, &form));
  CHECK_EQ(form, MPI_DIST_GRAPH);
  MUST(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == 2 && out == 2 && weighted, "%d %d %d", in, out, weighted);
  MUST(MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw));
  if (!reorder)
    for (int i = 0; i < 2; i++)
      CHECK(s[i] == sources[i] && sw[i] == in_weights[i] && d[i] == targets[i] && dw[i] == out_weights[i]);
  MUST(MPI_Dist_graph_neighbors(graph, 2, s, MPI_UNWEIGHTED, 2, d, MPI_UNWEIGHTED));
  MUST(MPI_Comm_free(&graph));
  /* Nobody has neighbours, and all the same there are weights. */
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                      MPI_INFO_NULL, reorder, &graph));
  MUST(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == 0 && out == 0 && weighted);
  MUST(MPI_Comm_free(&graph));
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &graph));
  MUST(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == 1 && out == 1 && !weighted);
  MUST(MPI_Dist_graph_neighbors(graph, 1, s, MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED));
  CHECK(s[0] == left && d[0] == right);
  MUST(MPI_Comm_free(&graph));
}

/* Random edges, each given by a random rank; every process must end up with exactly its own. */
static void general(Random* random, int with_weights, int reorder) {
  enum { kEdges = 60 };
  int from[kEdges], to[kEdges], weight[kEdges], giver[kEdges];
  int sources[kEdges], degrees[kEdges], destinations[kEdges], weights[kEdges], n = 0;
  for (int e = 0; e < kEdges; e++) {
    from[e] = random_below(random, check_size);
    to[e] = random_below(random, check_size);
    weight[e] = 100 + e;
    giver[e] = random_below(random, check_size);
    if (giver[e] != check_rank) continue;
    sources[n] = from[e];
    degrees[n] = 1;
    destinations[n] = to[e];
    weights[n++] = weight[e];
  }
  MPI_Comm graph;
  MUST(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, with_weights ? weights : MPI_UNWEIGHTED,
                             MPI_INFO_NULL, reorder, &graph));
  int in, out, weighted, rank, expected_in = 0, expected_out = 0;
  int s[kEdges], sw[kEdges], d[kEdges], dw[kEdges];
  MUST(MPI_Comm_rank(graph, &rank));
  for (int e = 0; e < kEdges; e++) {
    expected_in += to[e] == rank;
    expected_out += from[e] == rank;
  }
  MUST(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == expected_in && out == expected_out && weighted == with_weights, "%d %d %d", in, out, weighted);
  MUST(MPI_Dist_graph_neighbors(graph, kEdges, s, with_weights ? sw : MPI_UNWEIGHTED, kEdges, d,
                                with_weights ? dw : MPI_UNWEIGHTED));
  for (int e = 0; e < kEdges; e++) {
    int found = 0;
    for (int i = 0; i < in; i++) found += s[i] == from[e] && (!with_weights || sw[i] == weight[e]);
    if (to[e] == rank) CHECK(found >= 1, "edge %d from %d", e, from[e]);
    found = 0;
    for (int i = 0; i < out; i++) found += d[i] == to[e] && (!with_weights || dw[i] == weight[e]);
    if (from[e] == rank) CHECK(found >= 1, "edge %d to %d", e, to[e]);
  }
  MUST(MPI_Comm_free(&graph));
}

static void mistakes(void) {
  int index[2] = {1, 2}, edges[2] = {1, 0}, falling[2] = {2, 1}, n;
  const int one = 1, outside = check_size, self = check_rank, negative = -1;
  MPI_Comm comm = MPI_COMM_WORLD;
  CHECK_EQ(class_of(MPI_Graph_create(MPI_COMM_WORLD, check_size + 1, index, edges, 0, &comm)), MPI_ERR_ARG);
  if (check_size >= 2) {
    CHECK_EQ(class_of(MPI_Graph_create(MPI_COMM_WORLD, 2, falling, edges, 0, &comm)), MPI_ERR_ARG);
    edges[1] = 2;
    CHECK_EQ(class_of(MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm)), MPI_ERR_RANK);
  }
  MUST(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &outside, &one, 0, NULL, &one, MPI_INFO_NULL, 0,
                                                   &comm)),
           MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, &negative, 0, NULL, &one, MPI_INFO_NULL, 0,
                                                   &comm)),
           MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, MPI_UNWEIGHTED, 0, NULL, MPI_WEIGHTS_EMPTY,
                                                   MPI_INFO_NULL, 0, &comm)),
           MPI_ERR_ARG);
  /* One rank's mistake is reported to all. */
  const int code = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &self, &one, check_rank == 0 ? &outside : &self,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  CHECK_EQ(class_of(code), check_rank == 0 ? MPI_ERR_RANK : MPI_ERR_OTHER);
  if (check_size > 1)
    CHECK_EQ(class_of(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &self, &one, &self, check_rank ? MPI_UNWEIGHTED : &one,
                                            MPI_INFO_NULL, 0, &comm)),
             MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &n, &n)), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  Random random = {5};
  for (int reorder = 0; reorder < 2; reorder++) {
    whole(check_size, reorder);
    if (check_size > 1) whole(check_size - 1, reorder);
    adjacent(reorder);
    for (int k = 0; k < 6; k++) general(&random, k % 2, reorder);
  }
  shuffle_exchange();
  mistakes();
  return check_end();
}

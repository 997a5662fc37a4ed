/* The numbers of the standard's examples on topologies (MPI 1.1, chapter 6), in a communicator of as many ranks as each
 * needs; those that the job does not have are left out. */
#include "check.h"

static MPI_Comm first_ranks(int n) {
  MPI_Comm comm;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank < n ? 0 : MPI_UNDEFINED, check_rank, &comm));
  return comm;
}

/* 6.2: a grid of two by two is numbered row by row. */
static void row_by_row(void) {
  MPI_Comm four = first_ranks(4), grid;
  if (four == MPI_COMM_NULL) return;
  MUST(MPI_Cart_create(four, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      int rank;
      MUST(MPI_Cart_rank(grid, (int[]){i, j}, &rank));
      CHECK_EQ(rank, 2 * i + j);
    }
  MUST(MPI_Comm_free(&grid));
  MUST(MPI_Comm_free(&four));
}

/* Example 6.2: four nodes and six edges. */
static void four_nodes(void) {
  const int index[] = {2, 3, 4, 6}, edges[] = {1, 3, 0, 3, 0, 2};
  MPI_Comm four = first_ranks(4), graph;
  if (four == MPI_COMM_NULL) return;
  MUST(MPI_Graph_create(four, 4, index, edges, 0, &graph));
  int nodes, n, got_index[4], got_edges[6];
  MUST(MPI_Graphdims_get(graph, &nodes, &n));
  CHECK(nodes == 4 && n == 6);
  MUST(MPI_Graph_get(graph, 4, 6, got_index, got_edges));
  CHECK(memcmp(got_index, index, sizeof index) == 0 && memcmp(got_edges, edges, sizeof edges) == 0);
  const int* at = edges;
  for (int node = 0; node < 4; node++) {
    int degree, neighbours[2];
    MUST(MPI_Graph_neighbors_count(graph, node, &degree));
    CHECK_EQ(degree, index[node] - (node ? index[node - 1] : 0));
    MUST(MPI_Graph_neighbors(graph, node, 2, neighbours));
    for (int i = 0; i < degree; i++) CHECK_EQ(neighbours[i], at[i]);
    at += degree;
  }
  MUST(MPI_Comm_free(&graph));
  MUST(MPI_Comm_free(&four));
}

/* Example 6.5: the sub-grids of two by three by four. */
static void sub_grids(void) {
  MPI_Comm all = first_ranks(24), grid, part;
  if (all == MPI_COMM_NULL) return;
  MUST(MPI_Cart_create(all, 3, (int[]){2, 3, 4}, (int[]){0, 0, 0}, 0, &grid));
  for (int which = 0; which < 2; which++) {
    int size, n, dims[3], periods[3], own[3], count = 0, mine = 1;
    MUST(MPI_Cart_sub(grid, which ? (int[]){0, 0, 1} : (int[]){1, 0, 1}, &part));
    MUST(MPI_Comm_size(part, &size));
    CHECK_EQ(size, which ? 4 : 8);
    MUST(MPI_Cartdim_get(part, &n));
    CHECK_EQ(n, which ? 1 : 2);
    MUST(MPI_Cart_get(part, 3, dims, periods, own));
    CHECK(which ? dims[0] == 4 : dims[0] == 2 && dims[1] == 4);
    /* Six of them, or three. */
    int rank;
    MUST(MPI_Comm_rank(part, &rank));
    mine = rank == 0;
    MUST(MPI_Allreduce(&mine, &count, 1, MPI_INT, MPI_SUM, grid));
    CHECK_EQ(count, which ? 6 : 3);
    MUST(MPI_Comm_free(&part));
  }
  MUST(MPI_Comm_free(&grid));
  MUST(MPI_Comm_free(&all));
}

/* What the text says of the functions that map: a grid is a map and a split, a sub-grid is a split. */
static void made_of_splits(void) {
  int dims[2] = {0, 0}, periods[2] = {0, 1}, place, relation, own[2];
  MPI_Comm grid, split, row, by_color;
  MUST(MPI_Dims_create(check_size, 2, dims));
  MUST(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place));
  CHECK(place >= 0 && place < check_size, "%d", place);
  MUST(MPI_Comm_split(MPI_COMM_WORLD, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place, &split));
  int rank;
  MUST(MPI_Comm_rank(split, &rank));
  CHECK_EQ(rank, place);
  MUST(MPI_Comm_free(&split));
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
  MUST(MPI_Cart_coords(grid, check_rank, 2, own));
  MUST(MPI_Cart_sub(grid, (int[]){0, 1}, &row));
  MUST(MPI_Comm_split(grid, own[0], own[1], &by_color));
  MUST(MPI_Comm_compare(row, by_color, &relation));
  CHECK(relation == MPI_CONGRUENT);
  MUST(MPI_Comm_free(&by_color));
  MUST(MPI_Comm_free(&row));
  MUST(MPI_Comm_free(&grid));
  /* The same of graphs: a ring. */
  int* index = check_alloc((size_t)check_size * sizeof(int));
  int* edges = check_alloc((size_t)check_size * sizeof(int));
  for (int r = 0; r < check_size; r++) {
    index[r] = r + 1;
    edges[r] = (r + 1) % check_size;
  }
  MUST(MPI_Graph_map(MPI_COMM_WORLD, check_size, index, edges, &place));
  CHECK(place >= 0 && place < check_size);
  if (check_size > 1) {
    MUST(MPI_Graph_map(MPI_COMM_WORLD, 1, (int[]){0}, edges, &place));
    CHECK_EQ(place, check_rank == 0 ? 0 : MPI_UNDEFINED);
  }
  free(index);
  free(edges);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (check_size >= 4) {
    row_by_row();
    four_nodes();
  }
  if (check_size >= 24) sub_grids();
  made_of_splits();
  return check_end();
}

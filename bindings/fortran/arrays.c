#include "arrays.h"

void* f_room(void* few, size_t size, MPI_Count limit, MPI_Count* n, int* code) {
  if (F_LIKELY(*n <= limit)) return few;
  void* room = (size_t)*n <= PTRDIFF_MAX / size ? malloc((size_t)*n * size) : NULL;
  if (room) return room;
  *n = 0;
  *code = MPI_ERR_NO_MEM;
  return few;
}

/* The questions below are asked of objects that may be invalid, and of libraries whose errors are fatal: the call that
 * the arrays are for reports what is wrong with its arguments, so that nothing is asked about a null handle. */
MPI_Count f_peers(MPI_Comm comm) {
  int inter = 0, size = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if ((inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size) != MPI_SUCCESS) return 0;
  return size;
}

MPI_Count f_size(MPI_Comm comm) {
  int size = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

int f_rank(MPI_Comm comm) {
  int rank = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS ? rank : 0;
}

static int topology(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return MPI_UNDEFINED;
  return kind;
}

MPI_Count f_ndims(MPI_Comm comm) {
  int ndims = 0;
  return topology(comm) == MPI_CART && PMPI_Cartdim_get(comm, &ndims) == MPI_SUCCESS ? ndims : 0;
}

static MPI_Count neighbors(MPI_Comm comm, int incoming) {
  int rank, in = 0, out = 0, weighted;
  switch (topology(comm)) {
    case MPI_CART:
      return 2 * f_ndims(comm);
    case MPI_GRAPH:
      PMPI_Comm_rank(comm, &rank);
      PMPI_Graph_neighbors_count(comm, rank, &in);
      return in;
    case MPI_DIST_GRAPH:
      PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
      return incoming ? in : out;
    default:
      return 0;
  }
}

MPI_Count f_indegree(MPI_Comm comm) { return neighbors(comm, 1); }
MPI_Count f_outdegree(MPI_Comm comm) { return neighbors(comm, 0); }

MPI_Count f_last(const f_int* array, MPI_Count n) { return n > 0 ? array[n - 1] : 0; }

MPI_Count f_total(const f_int* array, MPI_Count n) {
  MPI_Count total = 0;
  F_EACH(i, n) total += array[i];
  return total;
}

int f_is_root(MPI_Comm comm, int root) {
  int inter = 0, rank = -1;
  if (root == MPI_ROOT) return 1;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return 0;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

MPI_Count f_from_root(MPI_Comm comm, int root, MPI_Count number) {
  if (root < 0 || root >= f_size(comm) || PMPI_Bcast(&number, 1, MPI_COUNT, root, comm) != MPI_SUCCESS) return 0;
  return number;
}

#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Info;
}  // namespace ashlar
/// The topology calls of MPI-5.0, chapter 8: arguments in the standard's order, handles resolved. The constructors are
/// collective over the communicator they are given; everything else is local.
namespace ashlar::topo {

Status cart_coords(Comm& comm, int rank, int maxdims, int coords[]);
Status cart_create(Comm& comm_old, int ndims, const int dims[], const int periods[], int reorder, Comm** comm_cart);
Status cart_get(Comm& comm, int maxdims, int dims[], int periods[], int coords[]);
Status cart_map(Comm& comm, int ndims, const int dims[], const int periods[], int* newrank);
Status cart_rank(Comm& comm, const int coords[], int* rank);
Status cart_shift(Comm& comm, int direction, int disp, int* rank_source, int* rank_dest);
Status cart_sub(Comm& comm, const int remain_dims[], Comm** newcomm);
Status cartdim_get(Comm& comm, int* ndims);
Status dims_create(int nnodes, int ndims, int dims[]);
Status dist_graph_create(Comm& comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                         const int weights[], Info* info, int reorder, Comm** comm_dist_graph);
Status dist_graph_create_adjacent(Comm& comm_old, int indegree, const int sources[], const int sourceweights[],
                                  int outdegree, const int destinations[], const int destweights[], Info* info,
                                  int reorder, Comm** comm_dist_graph);
Status dist_graph_neighbors(Comm& comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                            int destinations[], int destweights[]);
Status dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted);
Status graph_create(Comm& comm_old, int nnodes, const int indx[], const int edges[], int reorder, Comm** comm_graph);
Status graph_get(Comm& comm, int maxindex, int maxedges, int indx[], int edges[]);
Status graph_map(Comm& comm, int nnodes, const int indx[], const int edges[], int* newrank);
Status graph_neighbors(Comm& comm, int rank, int maxneighbors, int neighbors[]);
Status graph_neighbors_count(Comm& comm, int rank, int* nneighbors);
Status graphdims_get(Comm& comm, int* nnodes, int* nedges);
Status test(Comm& comm, int* status);

}  // namespace ashlar::topo

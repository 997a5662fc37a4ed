#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/object/int_array.h"

namespace ashlar {
class Comm;
class Datatype;
class Info;
class ReduceOp;
class Request;
}  // namespace ashlar

/// The collectives of MPI-5.0, chapter 6, and those of chapter 8 among neighbours: arguments in the standard's order,
/// handles resolved, arguments already checked (root in range, counts >= 0, committed types, a valid operation; of
/// neighbourhood collectives the arrays are checked here). MPI_IN_PLACE arrives as it is. A datatype that is not
/// significant on this rank (recvtype of gather at a non-root, sendtype with MPI_IN_PLACE) may be any object; it is not
/// looked at. Whether an operation fits a type is checked here: MPI_ERR_OP.
///
/// Every collective has three forms, declared by one line each:
///   bcast(..., comm)                     blocking
///   ibcast(..., comm, request)           never blocks; the request is the caller's
///   bcast_init(..., comm, info, request) an inactive persistent request; each start runs the same code in the same
///                                        memory. Starts may come in a different order on each rank.
/// Any thread that may call MPI; each call takes the lock of the communicator's lane. Argument arrays and buffers stay
/// valid until the operation is complete (persistent: until the request is freed); communicators, types and operations
/// may be freed before.
namespace ashlar::coll {

/// For the constructors of communicators. detach frees what attach and the collectives made; no collective is in
/// flight then. Neither takes the lane's lock.
Status attach(Comm& comm);
void detach(Comm& comm);

/// Whether a collective of this process is in flight on `comm`. The caller holds the lane's lock.
bool busy(const Comm& comm);

/// For info objects of communicators: "coll.<collective>.algorithm" = name uses that algorithm on this communicator
/// wherever it can serve, before every rule; an empty name takes that back. Other keys are passed over. All members
/// must agree. Fails with MPI_ERR_ARG when there is no such algorithm. Takes the lane's lock.
Status prefer(Comm& comm, const char* key, const char* value);

#define ASHLAR_COLLECTIVE(name, ...)                                        \
  Status name(__VA_ARGS__ __VA_OPT__(, ) Comm& comm);                       \
  Status i##name(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Request** request); \
  Status name##_init(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Info* info, Request** request)

ASHLAR_COLLECTIVE(barrier);
ASHLAR_COLLECTIVE(bcast, void* buffer, MPI_Count count, Datatype& datatype, int root);
ASHLAR_COLLECTIVE(reduce, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op,
                  int root);
ASHLAR_COLLECTIVE(allreduce, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(reduce_scatter, const void* sendbuf, void* recvbuf, IntArray recvcounts, Datatype& datatype,
                  ReduceOp& op);
ASHLAR_COLLECTIVE(reduce_scatter_block, const void* sendbuf, void* recvbuf, MPI_Count recvcount, Datatype& datatype,
                  ReduceOp& op);
ASHLAR_COLLECTIVE(scan, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(exscan, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(gather, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(gatherv, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  IntArray recvcounts, IntArray displs, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(scatter, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(scatterv, const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(allgather, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(allgatherv, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  IntArray recvcounts, IntArray displs, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoall, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoallv, const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                  void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoallw, const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
                  void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[]);

ASHLAR_COLLECTIVE(neighbor_allgather, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_allgatherv, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  IntArray recvcounts, IntArray displs, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoall, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoallv, const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                  void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoallw, const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[],
                  const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts, const MPI_Aint rdispls[],
                  const MPI_Datatype recvtypes[]);

#undef ASHLAR_COLLECTIVE

}  // namespace ashlar::coll

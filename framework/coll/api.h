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
/// flight then. It takes the lane's lock.
Status attach(Comm& comm);
void detach(Comm& comm);
/// For MPI_Comm_free: members that wait in a collective which this process has not called learn that it never will,
/// however long operations that are under way keep the communicator. Takes the lane's lock.
void leave(Comm& comm);

/// Whether a collective of this process is in flight on `comm`. The caller holds the lane's lock.
bool busy(const Comm& comm);

/// For info objects of communicators: "coll.<collective>.algorithm" = name uses that algorithm on this communicator
/// wherever it can serve, before every rule; an empty name takes that back. Other keys are passed over. All members
/// must agree. Fails with MPI_ERR_ARG when there is no such algorithm. Takes the lane's lock.
Status prefer(Comm& comm, const char* key, const char* value);

/// Declares the blocking, the nonblocking and the persistent form of one collective.
#define ASHLAR_COLLECTIVE(blocking, nonblocking, persistent, ...)               \
  Status blocking(__VA_ARGS__ __VA_OPT__(, ) Comm& comm);                       \
  Status nonblocking(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Request** request); \
  Status persistent(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Info* info, Request** request)

ASHLAR_COLLECTIVE(barrier, ibarrier, barrier_init);
ASHLAR_COLLECTIVE(bcast, ibcast, bcast_init, void* buffer, MPI_Count count, Datatype& datatype, int root);
ASHLAR_COLLECTIVE(reduce, ireduce, reduce_init, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype,
                  ReduceOp& op, int root);
ASHLAR_COLLECTIVE(allreduce, iallreduce, allreduce_init, const void* sendbuf, void* recvbuf, MPI_Count count,
                  Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(reduce_scatter, ireduce_scatter, reduce_scatter_init, const void* sendbuf, void* recvbuf,
                  IntArray recvcounts, Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(reduce_scatter_block, ireduce_scatter_block, reduce_scatter_block_init, const void* sendbuf,
                  void* recvbuf, MPI_Count recvcount, Datatype& datatype, ReduceOp& op);
ASHLAR_COLLECTIVE(scan, iscan, scan_init, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype,
                  ReduceOp& op);
ASHLAR_COLLECTIVE(exscan, iexscan, exscan_init, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype,
                  ReduceOp& op);
ASHLAR_COLLECTIVE(gather, igather, gather_init, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(gatherv, igatherv, gatherv_init, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                  void* recvbuf, IntArray recvcounts, IntArray displs, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(scatter, iscatter, scatter_init, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(scatterv, iscatterv, scatterv_init, const void* sendbuf, IntArray sendcounts, IntArray displs,
                  Datatype& sendtype, void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root);
ASHLAR_COLLECTIVE(allgather, iallgather, allgather_init, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(allgatherv, iallgatherv, allgatherv_init, const void* sendbuf, MPI_Count sendcount,
                  Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray displs, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoall, ialltoall, alltoall_init, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoallv, ialltoallv, alltoallv_init, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
                  Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype);
ASHLAR_COLLECTIVE(alltoallw, ialltoallw, alltoallw_init, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
                  const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts, IntArray rdispls,
                  const MPI_Datatype recvtypes[]);

ASHLAR_COLLECTIVE(neighbor_allgather, ineighbor_allgather, neighbor_allgather_init, const void* sendbuf,
                  MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init, const void* sendbuf,
                  MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray displs,
                  Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoall, ineighbor_alltoall, neighbor_alltoall_init, const void* sendbuf,
                  MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init, const void* sendbuf,
                  IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray rdispls, Datatype& recvtype);
ASHLAR_COLLECTIVE(neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init, const void* sendbuf,
                  IntArray sendcounts, const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                  IntArray recvcounts, const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]);

#undef ASHLAR_COLLECTIVE

}  // namespace ashlar::coll

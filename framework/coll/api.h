#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/object/int_array.h"

namespace ashlar {
class Comm;
class Datatype;
class ReduceOp;
class Request;
}  // namespace ashlar

/// The collectives of MPI-5.0, chapter 6: arguments in the standard's order, handles resolved, arguments already
/// checked (root in range, counts >= 0, committed types, a valid operation). MPI_IN_PLACE arrives as it is. A datatype
/// that is not significant on this rank (recvtype of gather at a non-root, sendtype with MPI_IN_PLACE) may be any
/// object; it is not looked at. Whether an operation fits a type is checked here: MPI_ERR_OP.
/// Any thread that may call MPI; each call takes the lock of the communicator's lane. The i-forms never block, and the
/// request they give out is the caller's. Argument arrays and buffers stay valid until the operation is complete;
/// communicators, types and operations may be freed before. Intercommunicators: MPI_ERR_UNSUPPORTED_OPERATION.
namespace ashlar::coll {

/// For the constructors of communicators. detach frees what attach and the collectives made; no collective is in
/// flight then. Neither takes the lane's lock.
Status attach(Comm& comm);
void detach(Comm& comm);

Status barrier(Comm& comm);
Status bcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm);
Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, int root,
              Comm& comm);
Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, Comm& comm);
Status gather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              Datatype& recvtype, int root, Comm& comm);
Status gatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
               IntArray displs, Datatype& recvtype, int root, Comm& comm);
Status scatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               Datatype& recvtype, int root, Comm& comm);
Status scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm);
Status allgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 Datatype& recvtype, Comm& comm);
Status allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray displs, Datatype& recvtype, Comm& comm);
Status alltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                Datatype& recvtype, Comm& comm);
Status alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
                 IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm);

Status ibarrier(Comm& comm, Request** request);
Status ibcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm, Request** request);
Status ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, int root,
               Comm& comm, Request** request);
Status iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, Comm& comm,
                  Request** request);
Status igather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               Datatype& recvtype, int root, Comm& comm, Request** request);
Status igatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                IntArray displs, Datatype& recvtype, int root, Comm& comm, Request** request);
Status iscatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                Datatype& recvtype, int root, Comm& comm, Request** request);
Status iscatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, Request** request);
Status iallgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                  Datatype& recvtype, Comm& comm, Request** request);
Status iallgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                   IntArray displs, Datatype& recvtype, Comm& comm, Request** request);
Status ialltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 Datatype& recvtype, Comm& comm, Request** request);
Status ialltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
                  IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm, Request** request);

}  // namespace ashlar::coll

#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/coll/call.h"
#include "framework/object/comm.h"

/// From the arguments of a collective to its Call, one function for all forms of it. In place is resolved here, and
/// what is not significant on this rank is left out. Fail with MPI_ERR_OP when an operation does not fit its type.
namespace ashlar::coll {

/// Whether this process gets a rooted collective's result, or has its data: of an intercommunicator MPI_ROOT.
inline bool is_root(const Comm& comm, int root) { return root == (comm.inter ? MPI_ROOT : comm.rank); }
/// Whether it stands on the other side: everyone, or of an intercommunicator the group without the root.
inline bool is_leaf(const Comm& comm, int root) { return !comm.inter || root >= 0; }

/// MPI_ERR_OP for one that does not fit the type, and for those of windows.
[[gnu::cold]] Status refuse_operation(const ReduceOp& op);
inline Status check_operation(const ReduceOp& op, const Datatype& type) {
  if (op.code() == ReduceOp::Code::kReplace || op.code() == ReduceOp::Code::kNoOp) [[unlikely]]
    return refuse_operation(op);
  return op.check(type);
}

/// MPI_ERR_BUFFER for MPI_IN_PLACE as an argument that may not be it.
[[gnu::cold]] Status in_place_refused(const char* argument);

inline Status describe_barrier(Call& call) {
  call.what = Collective::kBarrier;
  return {};
}

inline Status describe_bcast(Call& call, void* buffer, MPI_Count count, Datatype& type, int root) {
  call.what = Collective::kBcast;
  call.root = root;
  if (root != MPI_PROC_NULL) call.recv = {buffer, count, &type};
  return {};
}

inline Status describe_reduce(Call& call, const Comm& comm, const void* sendbuf, void* recvbuf, MPI_Count count,
                              Datatype& type, ReduceOp& op, int root) {
  if (root != MPI_PROC_NULL) ASHLAR_TRY(check_operation(op, type));
  call.what = Collective::kReduce;
  call.root = root;
  call.op = &op;
  if (is_root(comm, root)) call.recv = {recvbuf, count, &type};
  // The root of an intercommunicator has no operand; the vector says how long it is all the same.
  if (is_leaf(comm, root)) call.send = DataView::of(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type);
  return {};
}

/// allreduce, scan, exscan
inline Status describe_combine(Call& call, Collective what, const void* sendbuf, void* recvbuf, MPI_Count count,
                               Datatype& type, ReduceOp& op) {
  ASHLAR_TRY(check_operation(op, type));
  call.what = what;
  call.op = &op;
  call.recv = {recvbuf, count, &type};
  call.send = DataView::of(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type);
  return {};
}

inline Status describe_reduce_scatter(Call& call, const Comm& comm, const void* sendbuf, void* recvbuf, IntArray counts,
                                      Datatype& type, ReduceOp& op) {
  ASHLAR_TRY(check_operation(op, type));
  call.what = Collective::kReduceScatter;
  call.op = &op;
  call.recv_counts = counts;
  MPI_Count all = 0;
  for (int i = 0; i < comm.size; ++i) all += counts[static_cast<std::size_t>(i)];
  call.recv = {recvbuf, counts[static_cast<std::size_t>(comm.rank)], &type};
  call.send = DataView::of(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, all, type);
  return {};
}
inline Status describe_reduce_scatter(Call& call, const Comm& comm, const void* sendbuf, void* recvbuf, MPI_Count count,
                                      Datatype& type, ReduceOp& op) {
  ASHLAR_TRY(check_operation(op, type));
  call.what = Collective::kReduceScatterBlock;
  call.op = &op;
  call.recv = {recvbuf, count, &type};
  call.send = DataView::of(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count * comm.size, type);
  return {};
}

/// gather, gatherv
inline Status describe_gather(Call& call, Collective what, const Comm& comm, const void* sendbuf, MPI_Count sendcount,
                              Datatype& sendtype, void* recvbuf, MPI_Count recvcount, IntArray recvcounts,
                              IntArray displs, Datatype& recvtype, int root) {
  const bool at_root = is_root(comm, root);
  call.what = what;
  call.root = root;
  call.in_place = at_root && sendbuf == MPI_IN_PLACE;
  if (is_leaf(comm, root) && !call.in_place) call.send = DataView::of(sendbuf, sendcount, sendtype);
  if (!at_root) return {};
  call.recv = {recvbuf, recvcount, &recvtype};
  call.recv_counts = recvcounts;
  call.recv_displs = displs;
  return {};
}

/// scatter, scatterv
inline Status describe_scatter(Call& call, Collective what, const Comm& comm, const void* sendbuf, MPI_Count sendcount,
                               IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                               MPI_Count recvcount, Datatype& recvtype, int root) {
  const bool at_root = is_root(comm, root);
  call.what = what;
  call.root = root;
  call.in_place = at_root && recvbuf == MPI_IN_PLACE;
  if (is_leaf(comm, root) && !call.in_place) call.recv = {recvbuf, recvcount, &recvtype};
  if (!at_root) return {};
  call.send = DataView::of(sendbuf, sendcount, sendtype);
  call.send_counts = sendcounts;
  call.send_displs = displs;
  return {};
}

/// allgather, alltoall
inline Status describe_everyone(Call& call, Collective what, const void* sendbuf, MPI_Count sendcount,
                                Datatype& sendtype, void* recvbuf, MPI_Count recvcount, Datatype& recvtype) {
  call.what = what;
  call.in_place = sendbuf == MPI_IN_PLACE;
  if (!call.in_place) call.send = DataView::of(sendbuf, sendcount, sendtype);
  call.recv = {recvbuf, recvcount, &recvtype};
  return {};
}

inline Status describe_allgatherv(Call& call, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                                  void* recvbuf, IntArray recvcounts, IntArray displs, Datatype& recvtype) {
  call.recv_counts = recvcounts;
  call.recv_displs = displs;
  return describe_everyone(call, Collective::kAllgatherv, sendbuf, sendcount, sendtype, recvbuf, 0, recvtype);
}

inline Status describe_alltoallv(Call& call, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
                                 Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray rdispls,
                                 Datatype& recvtype) {
  call.recv_counts = recvcounts;
  call.recv_displs = rdispls;
  if (sendbuf != MPI_IN_PLACE) {
    call.send_counts = sendcounts;
    call.send_displs = sdispls;
  }
  return describe_everyone(call, Collective::kAlltoallv, sendbuf, 0, sendtype, recvbuf, 0, recvtype);
}

inline Status describe_alltoallw(Call& call, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
                                 const MPI_Datatype* sendtypes, void* recvbuf, IntArray recvcounts, IntArray rdispls,
                                 const MPI_Datatype* recvtypes) {
  if (recvbuf == MPI_IN_PLACE) return in_place_refused("recvbuf");
  call.what = Collective::kAlltoallw;
  call.in_place = sendbuf == MPI_IN_PLACE;
  if (!call.in_place) {
    call.send.data = const_cast<void*>(sendbuf);
    call.send_counts = sendcounts;
    call.send_displs = sdispls;
    call.send_types = sendtypes;
  }
  call.recv.data = recvbuf;
  call.recv_counts = recvcounts;
  call.recv_displs = rdispls;
  call.recv_types = recvtypes;
  return {};
}

/// What the standard forbids on an intercommunicator: MPI_ERR_COMM for scans, MPI_ERR_BUFFER for MPI_IN_PLACE.
[[gnu::cold]] Status check_inter(const Call& call, const Comm& comm);

/// Of the neighbourhood collectives: MPI_ERR_TOPOLOGY without a topology; a count for each neighbour, or an array that
/// is not one, is MPI_ERR_COUNT.
Status describe_neighbours(Call& call, Collective what, const Comm& comm, const void* sendbuf, MPI_Count sendcount,
                           IntArray sendcounts, IntArray sdispls, Datatype* sendtype, const MPI_Datatype* sendtypes,
                           void* recvbuf, MPI_Count recvcount, IntArray recvcounts, IntArray rdispls,
                           Datatype* recvtype, const MPI_Datatype* recvtypes);

}  // namespace ashlar::coll

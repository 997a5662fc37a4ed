#include "framework/coll/api.h"

#include "framework/coll/call.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/dispatch.h"
#include "framework/object/comm.h"

// Each call is described once, by a function that fills a Call; the blocking and the nonblocking form hand it on.
namespace ashlar::coll {
namespace {

Call call_bcast(void* buffer, MPI_Count count, Datatype& type, int root) {
  Call call;
  call.what = Collective::kBcast;
  call.root = root;
  call.recv = {buffer, count, &type};
  return call;
}

Call call_reduce(Collective what, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& type, ReduceOp& op,
                 int root, bool gets_result) {
  Call call;
  call.what = what;
  call.root = root;
  call.op = &op;
  if (gets_result) call.recv = {recvbuf, count, &type};
  call.send = DataView::of(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type);
  return call;
}

/// gather, allgather, alltoall and their v-forms: `own` is this rank's contribution, absent in place.
Call call_collect(Collective what, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype, bool gets_result) {
  Call call;
  call.what = what;
  call.in_place = gets_result && sendbuf == MPI_IN_PLACE;
  if (!call.in_place) call.send = DataView::of(sendbuf, sendcount, sendtype);
  if (gets_result) call.recv = {recvbuf, recvcount, &recvtype};
  return call;
}

Call call_scatter(Collective what, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype, int root, bool at_root) {
  Call call;
  call.what = what;
  call.root = root;
  call.in_place = at_root && recvbuf == MPI_IN_PLACE;
  if (at_root) call.send = DataView::of(sendbuf, sendcount, sendtype);
  if (!call.in_place) call.recv = {recvbuf, recvcount, &recvtype};
  return call;
}

void set_receive(Call& call, IntArray counts, IntArray displs) {
  call.recv_counts = counts;
  call.recv_displs = displs;
}
void set_send(Call& call, IntArray counts, IntArray displs) {
  call.send_counts = counts;
  call.send_displs = displs;
}

/// Hands a call on: to run() without a request, to start() with one.
Status go(Comm& comm, Call call) {
  call.bytes = call.quantity(comm.size);
  return run(comm, call);
}
Status go(Comm& comm, Call call, Request** request) {
  call.bytes = call.quantity(comm.size);
  return start(comm, call, request);
}

template <class... To>
Status do_gather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 Datatype& recvtype, int root, Comm& comm, To... request) {
  Call call =
      call_collect(Collective::kGather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm.rank == root);
  call.root = root;
  return go(comm, call, request...);
}

template <class... To>
Status do_gatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray displs, Datatype& recvtype, int root, Comm& comm, To... request) {
  const bool at_root = comm.rank == root;
  Call call = call_collect(Collective::kGatherv, sendbuf, sendcount, sendtype, recvbuf, 0, recvtype, at_root);
  call.root = root;
  if (at_root) set_receive(call, recvcounts, displs);
  return go(comm, call, request...);
}

template <class... To>
Status do_scatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                  Datatype& recvtype, int root, Comm& comm, To... request) {
  const Call call = call_scatter(Collective::kScatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                 comm.rank == root);
  return go(comm, call, request...);
}

template <class... To>
Status do_scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                   MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, To... request) {
  const bool at_root = comm.rank == root;
  Call call = call_scatter(Collective::kScatterv, sendbuf, 0, sendtype, recvbuf, recvcount, recvtype, root, at_root);
  if (at_root) set_send(call, sendcounts, displs);
  return go(comm, call, request...);
}

template <class... To>
Status do_allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                     IntArray displs, Datatype& recvtype, Comm& comm, To... request) {
  Call call = call_collect(Collective::kAllgatherv, sendbuf, sendcount, sendtype, recvbuf, 0, recvtype, true);
  set_receive(call, recvcounts, displs);
  return go(comm, call, request...);
}

template <class... To>
Status do_alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
                    IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm, To... request) {
  Call call = call_collect(Collective::kAlltoallv, sendbuf, 0, sendtype, recvbuf, 0, recvtype, true);
  if (!call.in_place) set_send(call, sendcounts, sdispls);
  set_receive(call, recvcounts, rdispls);
  return go(comm, call, request...);
}

template <class... To>
Status do_reduce(Collective what, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& type, ReduceOp& op,
                 int root, Comm& comm, To... request) {
  ASHLAR_TRY(op.check(type));
  const bool gets = what == Collective::kAllreduce || comm.rank == root;
  return go(comm, call_reduce(what, sendbuf, recvbuf, count, type, op, root, gets), request...);
}

}  // namespace

Status attach(Comm& comm) {
  comm.coll = nullptr;  // made by the first collective
  return {};
}
void detach(Comm& comm) {
  delete comm.coll;
  comm.coll = nullptr;
}

Status barrier(Comm& comm) { return go(comm, Call{}); }
Status bcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm) {
  return go(comm, call_bcast(buffer, count, datatype, root));
}
Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, int root,
              Comm& comm) {
  return do_reduce(Collective::kReduce, sendbuf, recvbuf, count, datatype, op, root, comm);
}
Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, Comm& comm) {
  return do_reduce(Collective::kAllreduce, sendbuf, recvbuf, count, datatype, op, 0, comm);
}
Status gather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              Datatype& recvtype, int root, Comm& comm) {
  return do_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
Status gatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
               IntArray displs, Datatype& recvtype, int root, Comm& comm) {
  return do_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}
Status scatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               Datatype& recvtype, int root, Comm& comm) {
  return do_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
Status scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm) {
  return do_scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
Status allgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 Datatype& recvtype, Comm& comm) {
  return go(comm,
            call_collect(Collective::kAllgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true));
}
Status allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray displs, Datatype& recvtype, Comm& comm) {
  return do_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}
Status alltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                Datatype& recvtype, Comm& comm) {
  return go(comm,
            call_collect(Collective::kAlltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true));
}
Status alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
                 IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm) {
  return do_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}
Status ibarrier(Comm& comm, Request** request) { return go(comm, Call{}, request); }
Status ibcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm, Request** request) {
  return go(comm, call_bcast(buffer, count, datatype, root), request);
}
Status ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, int root,
               Comm& comm, Request** request) {
  return do_reduce(Collective::kReduce, sendbuf, recvbuf, count, datatype, op, root, comm, request);
}
Status iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, Comm& comm,
                  Request** request) {
  return do_reduce(Collective::kAllreduce, sendbuf, recvbuf, count, datatype, op, 0, comm, request);
}
Status igather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               Datatype& recvtype, int root, Comm& comm, Request** request) {
  return do_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
}
Status igatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                IntArray displs, Datatype& recvtype, int root, Comm& comm, Request** request) {
  return do_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
}
Status iscatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                Datatype& recvtype, int root, Comm& comm, Request** request) {
  return do_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
}
Status iscatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, Request** request) {
  return do_scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
}
Status iallgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                  Datatype& recvtype, Comm& comm, Request** request) {
  return go(comm,
            call_collect(Collective::kAllgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true),
            request);
}
Status iallgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                   IntArray displs, Datatype& recvtype, Comm& comm, Request** request) {
  return do_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
}
Status ialltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 Datatype& recvtype, Comm& comm, Request** request) {
  return go(comm, call_collect(Collective::kAlltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true),
            request);
}
Status ialltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
                  IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm, Request** request) {
  return do_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
}

}  // namespace ashlar::coll

#include "framework/coll/api.h"

#include <string>
#include <string_view>

#include "framework/coll/call.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/describe.h"
#include "framework/coll/dispatch.h"
#include "framework/object/comm.h"
#include "framework/progress/lane.h"

namespace ashlar::coll {

Status attach(Comm& comm) {
  comm.coll = nullptr;  // made by the first collective
  return {};
}
bool busy(const Comm& comm) { return comm.coll != nullptr && comm.coll->in_flight != 0; }

void detach(Comm& comm) {
  {
    const LaneGuard guard(comm.lane->lock);
    remove_from_lane(comm);
  }
  delete comm.coll;
  comm.coll = nullptr;
}

void leave(Comm& comm) {
  const LaneGuard guard(comm.lane->lock);
  leave_on_lane(comm);
}

Status prefer(Comm& comm, const char* key, const char* value) {
  constexpr std::string_view kBegin = "coll.", kEnd = ".algorithm";
  const std::string_view whole(key);
  if (whole.size() <= kBegin.size() + kEnd.size() || !whole.starts_with(kBegin) || !whole.ends_with(kEnd)) return {};
  const std::string name(whole.substr(kBegin.size(), whole.size() - kBegin.size() - kEnd.size()));
  Collective collective;
  if (!parse_collective(name.c_str(), &collective)) return {};
  const LaneGuard guard(comm.lane->lock);
  CommState* state = nullptr;
  ASHLAR_TRY(state_of(comm, &state));
  return state->prefer(collective, value);
}

namespace {

/// Completes a description: the checks of intercommunicators, and the quantity that rules go by.
inline Status complete(Call& call, const Comm& comm) {
  if (comm.inter) [[unlikely]]
    ASHLAR_TRY(check_inter(call, comm));
  call.bytes = call.quantity(comm.remote_size);
  return {};
}

}  // namespace

/// Defines the three forms of a collective: each fills the same description, and passes it on. `description` is a
/// function of describe.h applied to the arguments.
#define ASHLAR_FORMS(blocking, nonblocking, persistent, description, ...)                   \
  Status blocking(__VA_ARGS__ __VA_OPT__(, ) Comm& comm) {                                  \
    Call call;                                                                              \
    ASHLAR_TRY(description);                                                                \
    ASHLAR_TRY(complete(call, comm));                                                       \
    return run(comm, call);                                                                 \
  }                                                                                         \
  Status nonblocking(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Request** request) {            \
    Call call;                                                                              \
    ASHLAR_TRY(description);                                                                \
    ASHLAR_TRY(complete(call, comm));                                                       \
    return start(comm, call, request);                                                      \
  }                                                                                         \
  Status persistent(__VA_ARGS__ __VA_OPT__(, ) Comm& comm, Info* info, Request** request) { \
    Call call;                                                                              \
    ASHLAR_TRY(description);                                                                \
    ASHLAR_TRY(complete(call, comm));                                                       \
    return prepare(comm, call, info, request);                                              \
  }

ASHLAR_FORMS(barrier, ibarrier, barrier_init, describe_barrier(call))
ASHLAR_FORMS(bcast, ibcast, bcast_init, describe_bcast(call, buffer, count, datatype, root), void* buffer,
             MPI_Count count, Datatype& datatype, int root)
ASHLAR_FORMS(reduce, ireduce, reduce_init, describe_reduce(call, comm, sendbuf, recvbuf, count, datatype, op, root),
             const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op, int root)
ASHLAR_FORMS(allreduce, iallreduce, allreduce_init,
             describe_combine(call, Collective::kAllreduce, sendbuf, recvbuf, count, datatype, op), const void* sendbuf,
             void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op)
ASHLAR_FORMS(reduce_scatter, ireduce_scatter, reduce_scatter_init,
             describe_reduce_scatter(call, comm, sendbuf, recvbuf, recvcounts, datatype, op), const void* sendbuf,
             void* recvbuf, IntArray recvcounts, Datatype& datatype, ReduceOp& op)
ASHLAR_FORMS(reduce_scatter_block, ireduce_scatter_block, reduce_scatter_block_init,
             describe_reduce_scatter(call, comm, sendbuf, recvbuf, recvcount, datatype, op), const void* sendbuf,
             void* recvbuf, MPI_Count recvcount, Datatype& datatype, ReduceOp& op)
ASHLAR_FORMS(scan, iscan, scan_init, describe_combine(call, Collective::kScan, sendbuf, recvbuf, count, datatype, op),
             const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op)
ASHLAR_FORMS(exscan, iexscan, exscan_init,
             describe_combine(call, Collective::kExscan, sendbuf, recvbuf, count, datatype, op), const void* sendbuf,
             void* recvbuf, MPI_Count count, Datatype& datatype, ReduceOp& op)
ASHLAR_FORMS(gather, igather, gather_init,
             describe_gather(call, Collective::kGather, comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, {}, {},
                             recvtype, root),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype, int root)
ASHLAR_FORMS(gatherv, igatherv, gatherv_init,
             describe_gather(call, Collective::kGatherv, comm, sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts,
                             displs, recvtype, root),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
             IntArray displs, Datatype& recvtype, int root)
ASHLAR_FORMS(scatter, iscatter, scatter_init,
             describe_scatter(call, Collective::kScatter, comm, sendbuf, sendcount, {}, {}, sendtype, recvbuf,
                              recvcount, recvtype, root),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype, int root)
ASHLAR_FORMS(scatterv, iscatterv, scatterv_init,
             describe_scatter(call, Collective::kScatterv, comm, sendbuf, 0, sendcounts, displs, sendtype, recvbuf,
                              recvcount, recvtype, root),
             const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
             MPI_Count recvcount, Datatype& recvtype, int root)
ASHLAR_FORMS(allgather, iallgather, allgather_init,
             describe_everyone(call, Collective::kAllgather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                               recvtype),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype)
ASHLAR_FORMS(allgatherv, iallgatherv, allgatherv_init,
             describe_allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
             IntArray displs, Datatype& recvtype)
ASHLAR_FORMS(alltoall, ialltoall, alltoall_init,
             describe_everyone(call, Collective::kAlltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype)
ASHLAR_FORMS(alltoallv, ialltoallv, alltoallv_init,
             describe_alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype),
             const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
             IntArray recvcounts, IntArray rdispls, Datatype& recvtype)
ASHLAR_FORMS(alltoallw, ialltoallw, alltoallw_init,
             describe_alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes),
             const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[], void* recvbuf,
             IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[])
ASHLAR_FORMS(neighbor_allgather, ineighbor_allgather, neighbor_allgather_init,
             describe_neighbours(call, Collective::kNeighborAllgather, comm, sendbuf, sendcount, {}, {}, &sendtype,
                                 nullptr, recvbuf, recvcount, {}, {}, &recvtype, nullptr),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype)
ASHLAR_FORMS(neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init,
             describe_neighbours(call, Collective::kNeighborAllgatherv, comm, sendbuf, sendcount, {}, {}, &sendtype,
                                 nullptr, recvbuf, 0, recvcounts, displs, &recvtype, nullptr),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
             IntArray displs, Datatype& recvtype)
ASHLAR_FORMS(neighbor_alltoall, ineighbor_alltoall, neighbor_alltoall_init,
             describe_neighbours(call, Collective::kNeighborAlltoall, comm, sendbuf, sendcount, {}, {}, &sendtype,
                                 nullptr, recvbuf, recvcount, {}, {}, &recvtype, nullptr),
             const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype)
ASHLAR_FORMS(neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init,
             describe_neighbours(call, Collective::kNeighborAlltoallv, comm, sendbuf, 0, sendcounts, sdispls, &sendtype,
                                 nullptr, recvbuf, 0, recvcounts, rdispls, &recvtype, nullptr),
             const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
             IntArray recvcounts, IntArray rdispls, Datatype& recvtype)
ASHLAR_FORMS(neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init,
             describe_neighbours(call, Collective::kNeighborAlltoallw, comm, sendbuf, 0, sendcounts, sdispls, nullptr,
                                 sendtypes, recvbuf, 0, recvcounts, rdispls, nullptr, recvtypes),
             const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
             void* recvbuf, IntArray recvcounts, const MPI_Aint rdispls[], const MPI_Datatype recvtypes[])

#undef ASHLAR_FORMS

}  // namespace ashlar::coll

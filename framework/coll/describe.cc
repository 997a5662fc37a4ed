#include "framework/coll/describe.h"

#include "framework/object/topology.h"

namespace ashlar::coll {
namespace {

/// One side of the call: an array has an element for each neighbour, which the bindings cannot count.
Status check_side(const char* side, int degree, bool has_counts, IntArray counts, bool has_types,
                  const MPI_Datatype* types) {
  if (degree == 0) return {};
  if (has_counts && !counts) return Status::fail(MPI_ERR_ARG, "argument %scounts is a null pointer", side);
  if (has_types && types == nullptr) return Status::fail(MPI_ERR_TYPE, "argument %stypes is a null pointer", side);
  for (int i = 0; i < degree; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (has_counts && counts[at] < 0) {
      return Status::fail(MPI_ERR_COUNT, "argument %scounts: element %d is %lld; counts are not negative", side, i,
                          static_cast<long long>(counts[at]));
    }
    if (!has_types) continue;
    const Datatype* const type = resolve(types[at]);
    if (types[at] == MPI_DATATYPE_NULL && counts[at] == 0) continue;
    if (type == nullptr)
      return Status::fail(MPI_ERR_TYPE, "argument %stypes: element %d is not a valid datatype", side, i);
    if (!type->committed()) return Status::fail(MPI_ERR_TYPE, "argument %stypes: element %d is not committed", side, i);
  }
  return {};
}

/// A null buffer that is to hold data, as far as its datatype has no absolute addresses.
Status check_buffer(const char* side, const void* buffer, int degree, IntArray counts, const Datatype* type) {
  constexpr MPI_Count kFirstPage = 4096;
  if (buffer != MPI_BOTTOM || type == nullptr || type->size() == 0) return {};
  if (type->true_lb() < 0 || type->true_lb() >= kFirstPage) return {};
  for (int i = 0; i < degree && counts; ++i) {
    if (counts[static_cast<std::size_t>(i)] == 0) continue;
    return Status::fail(MPI_ERR_BUFFER, "argument %sbuf is null, but neighbour %d has data in it", side, i);
  }
  return {};
}

}  // namespace

Status refuse_operation(const ReduceOp& op) {
  return Status::fail(MPI_ERR_OP, "%s is for accumulate calls on windows only", op.name());
}

Status check_inter(const Call& call, const Comm& comm) {
  if (call.what == Collective::kScan || call.what == Collective::kExscan) {
    return Status::fail(MPI_ERR_COMM, "communicator '%s' is an intercommunicator, and its groups have no common order",
                        comm.name.c_str());
  }
  const bool same = reduces(call.what) && call.send.type != nullptr && call.send.data == call.recv.data &&
                    call.send.data != nullptr && call.send.count > 0;
  if (!call.in_place && !same) return {};
  return Status::fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed on intercommunicator '%s'", comm.name.c_str());
}

Status describe_neighbours(Call& call, Collective what, const Comm& comm, const void* sendbuf, MPI_Count sendcount,
                           IntArray sendcounts, IntArray sdispls, Datatype* sendtype, const MPI_Datatype* sendtypes,
                           void* recvbuf, MPI_Count recvcount, IntArray recvcounts, IntArray rdispls,
                           Datatype* recvtype, const MPI_Datatype* recvtypes) {
  const Topology* const topology = comm.topology.get();
  if (topology == nullptr) {
    return Status::fail(
        MPI_ERR_TOPOLOGY,
        "communicator '%s' has no topology, and so no neighbours: MPI_Cart_create and its kin make one that has",
        comm.name.c_str());
  }
  if (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE)
    return Status::fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed in neighbourhood collectives");
  const bool types = what == Collective::kNeighborAlltoallw;
  const bool in_counts = types || what == Collective::kNeighborAllgatherv || what == Collective::kNeighborAlltoallv;
  const bool out_counts = types || what == Collective::kNeighborAlltoallv;
  ASHLAR_TRY(check_side("send", topology->outdegree(), out_counts, sendcounts, types, sendtypes));
  ASHLAR_TRY(check_side("recv", topology->indegree(), in_counts, recvcounts, types, recvtypes));
  if (out_counts) ASHLAR_TRY(check_buffer("send", sendbuf, topology->outdegree(), sendcounts, sendtype));
  if (in_counts) ASHLAR_TRY(check_buffer("recv", recvbuf, topology->indegree(), recvcounts, recvtype));
  call.what = what;
  call.topology = topology;
  call.send = {const_cast<void*>(sendbuf), sendcount, sendtype};
  call.send_counts = sendcounts;
  call.send_displs = sdispls;
  call.send_types = sendtypes;
  call.recv = {recvbuf, recvcount, recvtype};
  call.recv_counts = recvcounts;
  call.recv_displs = rdispls;
  call.recv_types = recvtypes;
  return {};
}

}  // namespace ashlar::coll

#include "framework/coll/describe.h"

#include "framework/base/failure.h"
#include "framework/object/topology.h"

namespace ashlar::coll {
namespace {

/// The arguments of one side of a call, by name.
struct SideNames {
  const char *buffer, *counts, *types;
};
constexpr SideNames kSend{.buffer = "sendbuf", .counts = "sendcounts", .types = "sendtypes"};
constexpr SideNames kRecv{.buffer = "recvbuf", .counts = "recvcounts", .types = "recvtypes"};

/// One side of the call: an array has an element for each neighbour, which the bindings cannot count.
Status check_side(const SideNames& side, int degree, bool has_counts, IntArray counts, bool has_types,
                  const MPI_Datatype* types) {
  if (degree == 0) return {};
  if (has_counts && !counts) return fail(MPI_ERR_ARG, "argument.null", {{"argument", side.counts}});
  if (has_types && types == nullptr) return fail(MPI_ERR_TYPE, "argument.null", {{"argument", side.types}});
  for (int i = 0; i < degree; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (has_counts && counts[at] < 0) {
      return fail(MPI_ERR_COUNT, "argument.element",
                  {{"argument", side.counts}, {"index", i}, {"value", counts[at]}, {"wanted", "0 or more"}});
    }
    if (!has_types) continue;
    const Datatype* const type = resolve(types[at]);
    if (types[at] == MPI_DATATYPE_NULL && counts[at] == 0) continue;
    if (type == nullptr || !type->committed()) {
      return fail(MPI_ERR_TYPE, "argument.element",
                  {{"argument", side.types},
                   {"index", i},
                   {"value", type == nullptr ? "no valid datatype" : "not committed"},
                   {"wanted", "a committed datatype"}});
    }
  }
  return {};
}

/// A null buffer that is to hold data, as far as its datatype has no absolute addresses.
Status check_buffer(const SideNames& side, const void* buffer, int degree, IntArray counts, const Datatype* type) {
  constexpr MPI_Count kFirstPage = 4096;
  if (buffer != MPI_BOTTOM || type == nullptr || type->size() == 0) return {};
  if (type->true_lb() < 0 || type->true_lb() >= kFirstPage) return {};
  for (int i = 0; i < degree && counts; ++i) {
    if (counts[static_cast<std::size_t>(i)] == 0) continue;
    return fail(MPI_ERR_BUFFER, "coll.null_buffer_of_neighbour", {{"argument", side.buffer}, {"index", i}});
  }
  return {};
}

}  // namespace

Status refuse_operation(const ReduceOp& op) {
  return fail(MPI_ERR_OP, "coll.operation_of_windows", {{"value", op.name()}});
}

Status in_place_refused(const char* argument) {
  return fail(MPI_ERR_BUFFER, "buffer.in_place", {{"argument", argument}, {"value", "MPI_IN_PLACE"}});
}

Status check_inter(const Call& call, const Comm& comm) {
  if (call.what == Collective::kScan || call.what == Collective::kExscan)
    return fail(MPI_ERR_COMM, "coll.no_order_between_groups", {{"communicator", comm.name}});
  const bool same = reduces(call.what) && call.send.type != nullptr && call.send.data == call.recv.data &&
                    call.send.data != nullptr && call.send.count > 0;
  if (!call.in_place && !same) return {};
  return fail(MPI_ERR_BUFFER, "coll.in_place_between_groups", {{"communicator", comm.name}});
}

Status describe_neighbours(Call& call, Collective what, const Comm& comm, const void* sendbuf, MPI_Count sendcount,
                           IntArray sendcounts, IntArray sdispls, Datatype* sendtype, const MPI_Datatype* sendtypes,
                           void* recvbuf, MPI_Count recvcount, IntArray recvcounts, IntArray rdispls,
                           Datatype* recvtype, const MPI_Datatype* recvtypes) {
  const Topology* const topology = comm.topology.get();
  if (topology == nullptr) {
    return fail(MPI_ERR_TOPOLOGY, "coll.no_neighbours", {{"communicator", comm.name}});
  }
  if (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE) {
    return fail(MPI_ERR_BUFFER, "coll.in_place_of_neighbours",
                {{"argument", sendbuf == MPI_IN_PLACE ? "sendbuf" : "recvbuf"}});
  }
  const bool types = what == Collective::kNeighborAlltoallw;
  const bool in_counts = types || what == Collective::kNeighborAllgatherv || what == Collective::kNeighborAlltoallv;
  const bool out_counts = types || what == Collective::kNeighborAlltoallv;
  ASHLAR_TRY(check_side(kSend, topology->outdegree(), out_counts, sendcounts, types, sendtypes));
  ASHLAR_TRY(check_side(kRecv, topology->indegree(), in_counts, recvcounts, types, recvtypes));
  if (out_counts) ASHLAR_TRY(check_buffer(kSend, sendbuf, topology->outdegree(), sendcounts, sendtype));
  if (in_counts) ASHLAR_TRY(check_buffer(kRecv, recvbuf, topology->indegree(), recvcounts, recvtype));
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

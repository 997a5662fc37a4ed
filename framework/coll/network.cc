#include "framework/coll/network.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "framework/coll/comm_state.h"
#include "framework/coll/lane_collectives.h"
#include "framework/coll/op.h"
#include "framework/coll/part.h"
#include "framework/object/group.h"
#include "framework/plugin/component.h"
#include "framework/plugin/transport.h"
#include "framework/progress/peer.h"

namespace ashlar::coll {
namespace {

constexpr std::uint32_t kMoreRarely = 8;
constexpr std::size_t kStackBytes = 1024;

/// What the ranks combine by the minimum.
struct Measured {
  std::int64_t bandwidth = std::numeric_limits<std::int64_t>::max();
  std::int64_t minus_round_trip = 0;
};

/// The slowest of this rank's paths to other nodes, and the longest round trip.
Measured of_this_rank(const CommState& state) ASHLAR_NO_THREAD_SAFETY {
  Measured slowest;
  Lane& lane = *state.comm.lane;
  const Group& group = *state.comm.local_group;
  const std::vector<std::uint32_t> nodes = state.engine.nodes_of(group);
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] == nodes[static_cast<std::size_t>(state.comm.rank)]) continue;
    Peer* const peer = lane.peers.find(group[rank]);
    ashlar_endpoint* const endpoint = peer != nullptr ? peer->link(lane).endpoint : nullptr;
    if (endpoint == nullptr || !ASHLAR_HAS(endpoint->ops, measured) || endpoint->ops->measured == nullptr) continue;
    ashlar_path_cost cost = {};
    endpoint->ops->measured(endpoint, &cost);
    const auto bandwidth = static_cast<std::int64_t>(static_cast<double>(cost.bandwidth) * 1e9);
    if (bandwidth > 0) slowest.bandwidth = std::min(slowest.bandwidth, bandwidth);
    slowest.minus_round_trip = std::min(slowest.minus_round_trip, -static_cast<std::int64_t>(cost.round_trip_ns));
  }
  return slowest;
}

void record(const CommState& state) {
  char chosen[80];
  std::snprintf(chosen, sizeof chosen, "%.4g MB/s, %.4g us there and back",
                static_cast<double>(state.network.bandwidth) / 1e6,
                static_cast<double>(state.network.round_trip) / 1e3);
  state.engine.record_network(state.comm.name.c_str(), chosen,
                              "the slowest path that any of " + std::to_string(state.comm.size) +
                                  " ranks has measured, agreed on before large blocking collective " +
                                  std::to_string(state.network.calls) + " whose rules go by it");
}

}  // namespace

bool is_due(CommState& state, const Call& call) {
  if (!state.plan->goes_by_bandwidth[static_cast<std::size_t>(call.what)]) return false;
  Network& network = state.network;
  if (++network.calls != network.next) return false;
  network.next *= kMoreRarely;
  return true;
}

Status agree_on_network(CommState& state, const Call& called, Tag number) ASHLAR_NO_THREAD_SAFETY {
  state.wire.serve(called.what);
  Measured slowest = of_this_rank(state);
  alignas(64) std::byte memory[kStackBytes];
  Block block(memory, sizeof memory, state.chunks);
  Op whole(state.wire, state.comm.rank, state.comm.size, number, block, true);
  Op part(whole, state.wire, state.comm.rank, state.comm.size);
  Datatype& number_type = datatype::predefined(MPI_INT64_T);
  Call call;
  call.what = Collective::kAllreduce;
  call.op = resolve(MPI_MIN);
  call.send = call.recv = DataView{&slowest, 2, &number_type};
  call.bytes = sizeof slowest;
  const Co agreeing = run_part(whole, part, state, call);
  if (!agreeing.started()) return whole.failure().ok() ? part.failure() : whole.failure();
  ASHLAR_TRY(agreeing.status());
  if (slowest.bandwidth == std::numeric_limits<std::int64_t>::max()) return {};
  state.network.bandwidth = static_cast<std::uint64_t>(slowest.bandwidth);
  state.network.round_trip = static_cast<std::uint64_t>(-slowest.minus_round_trip);
  record(state);
  return {};
}

}  // namespace ashlar::coll

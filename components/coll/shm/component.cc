#include <cstddef>
#include <cstdio>

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::int32_t kPriority = 50;  // before p2p, for what it serves
constexpr int kMostRanks = 1024;

Config config{4096, 65536};
constexpr std::uint64_t kPlacesOfAll = 1u << 20;  // of one round, so that a segment for many ranks stays small

constexpr ashlar_param kParams[] = {
    {"max_bytes", "4KiB", "Largest payload of one rank that goes through the shared segment.", ASHLAR_PARAM_BYTES,
     ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, max_bytes)), nullptr},
    {"piece", "64KiB", "Larger payloads go through the segment in pieces of this size, less with more than 16 ranks.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, piece)), nullptr},
};

const char* needs_node(const Shape& shape, const Call& call) {
  if (shape.nodes > 1) return "the ranks are on several nodes";
  if (shape.ranks < 2) return "one rank needs no segment";
  if (shape.ranks > kMostRanks) return "too many ranks for one segment";
  if (call.bytes > static_cast<MPI_Count>(config.max_bytes)) return "more than coll.shm.max_bytes";
  return nullptr;
}
const char* needs_node_and_dense(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  return needs_node(shape, call);
}

const char* needs_small_row(const Shape& shape, const Call& call) {
  if (const char* const why = needs_node(shape, call); why != nullptr) return why;
  if (call.bytes * shape.ranks > static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(shape.ranks))))
    return "the blocks for all ranks do not fit into a rank's place";
  return nullptr;
}
const char* needs_node_of_any_size(const Shape& shape, const Call&) {
  if (shape.nodes > 1) return "the ranks are on several nodes";
  if (shape.ranks < 2) return "one rank needs no segment";
  return shape.ranks > kMostRanks ? "too many ranks for one segment" : nullptr;
}
const char* needs_dense_items(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  if (call.send.type->size() > static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(shape.ranks))))
    return "an item is larger than a piece";
  return needs_node_of_any_size(shape, call);
}

constexpr Algorithm kAlgorithms[] = {
    {Collective::kBarrier, "shm", "shm", "flags in shared memory", needs_node, barrier, kInCallOrder},
    {Collective::kBcast, "shm", "shm", "slots in shared memory, the root runs ahead", needs_node, bcast, kInCallOrder},
    {Collective::kReduce, "shm", "shm", "slots in shared memory, leaves run ahead", needs_node_and_dense, reduce,
     kInCallOrder | kFixedOrder},
    {Collective::kAllreduce, "shm", "shm", "slots in shared memory, rank order", needs_node_and_dense, allreduce,
     kInCallOrder | kFixedOrder},
    {Collective::kGather, "shm", "shm", "slots in shared memory, leaves run ahead", needs_node, gather, kInCallOrder},
    {Collective::kScatter, "shm", "shm", "slots in shared memory, the root runs ahead", needs_node, scatter,
     kInCallOrder},
    {Collective::kAllgather, "shm", "shm", "slots in shared memory", needs_node, everyone, kInCallOrder},
    {Collective::kAlltoall, "shm", "shm", "slots in shared memory", needs_small_row, everyone, kInCallOrder},
    {Collective::kReduceScatter, "shm", "shm", "slots in shared memory, rank order", needs_node_and_dense, everyone,
     kInCallOrder | kFixedOrder},
    {Collective::kReduceScatterBlock, "shm", "shm", "slots in shared memory, rank order", needs_node_and_dense,
     everyone, kInCallOrder | kFixedOrder},
    {Collective::kScan, "shm", "shm", "slots in shared memory", needs_node_and_dense, everyone, kInCallOrder},
    {Collective::kExscan, "shm", "shm", "slots in shared memory", needs_node_and_dense, everyone, kInCallOrder},
    {Collective::kBcast, "shm_large", "shm", "in pieces through shared memory", needs_node_of_any_size, bcast_large,
     kInCallOrder},
    {Collective::kReduce, "shm_large", "shm", "in pieces through shared memory, rank order", needs_dense_items,
     reduce_large, kInCallOrder | kFixedOrder},
    {Collective::kAllreduce, "shm_large", "shm", "in pieces through shared memory, rank order", needs_dense_items,
     allreduce_large, kInCallOrder | kFixedOrder},
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

ashlar_result open(const ashlar_host*, const void* block) {
  config = *static_cast<const Config*>(block);
  config.max_bytes = (config.max_bytes + 63) / 64 * 64;  // places begin on cache lines
  config.piece = (config.piece + 63) / 64 * 64;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "small collectives of ranks that share a node");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&kList);
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace

const Config& configuration() { return config; }

std::uint64_t place_bytes(std::uint32_t ranks) {
  const std::uint64_t share = kPlacesOfAll / ranks / 64 * 64;
  const std::uint64_t piece = config.piece < share ? config.piece : share;
  return piece < config.max_bytes ? config.max_bytes : piece;
}

}  // namespace ashlar::coll::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {sizeof(ashlar_component),
                                              ASHLAR_COMPONENT_MAJOR,
                                              ASHLAR_COMPONENT_MINOR,
                                              "coll",
                                              "shm",
                                              "1.0.0",
                                              "small collectives on flags in shared memory",
                                              1,
                                              sizeof(ashlar::coll::shm::Config),
                                              1,
                                              ashlar::coll::shm::kParams,
                                              ASHLAR_BUILD_ID,
                                              ashlar::coll::shm::open,
                                              ashlar::coll::shm::query,
                                              ashlar::coll::shm::create,
                                              ashlar::coll::shm::destroy,
                                              nullptr};

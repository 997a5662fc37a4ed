#include "components/coll/shm/catalogue.h"

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/exchange_table.h"
#include "components/coll/shm/module.h"

namespace ashlar::coll::shm {
namespace {

constexpr int kMostRanks = 1024;

/// Restriction of an algorithm: Algorithm::excluded.
using Excluded = const char* (*)(const Shape& shape, const Call& call);

MPI_Count piece_bytes(const Shape& shape) {
  return static_cast<MPI_Count>(module().piece_bytes(static_cast<std::uint32_t>(shape.ranks)));
}

const char* needs_node(const Shape& shape, const Call&) {
  if (shape.nodes > 1) return "the ranks are on several nodes";
  if (shape.ranks < 2) return "one rank needs no segment";
  return shape.ranks > kMostRanks ? "too many ranks for one segment" : nullptr;
}
const char* needs_one_piece(const Shape& shape, const Call& call) {
  if (const char* const why = needs_node(shape, call); why != nullptr) return why;
  return call.bytes > piece_bytes(shape) ? "more than goes through the segment at once, coll.shm.piece" : nullptr;
}
const char* needs_one_dense_piece(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  return needs_one_piece(shape, call);
}

const char* needs_small_row(const Shape& shape, const Call& call) {
  if (const char* const why = needs_one_piece(shape, call); why != nullptr) return why;
  if (call.bytes * shape.ranks > piece_bytes(shape))
    return "the blocks for all ranks do not fit into one piece, coll.shm.piece";
  return nullptr;
}
const char* needs_dense_items(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  if (call.send.type->size() > piece_bytes(shape)) return "an item is larger than a piece";
  return needs_node(shape, call);
}

const char* needs_copies(const Shape& shape, const Call& call) {
  if (!module().config.single_copy) return "coll.shm.single_copy is off";
  return needs_node(shape, call);
}
const char* needs_copies_and_table(const Shape& shape, const Call& call) {
  const auto ranks = static_cast<std::uint32_t>(shape.ranks);
  if (module().buffer_bytes(ranks) < table_bytes(ranks, ranks))
    return "a table for all ranks does not fit into a bounce buffer, coll.shm.blocks";
  return needs_copies(shape, call);
}
const char* needs_dense_copies(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and slices of operands are combined as they lie";
  return needs_copies(shape, call);
}

constexpr Algorithm of(Collective what, const char* name, const char* summary, Excluded excluded,
                       Co (*run)(Op&, const Call&), unsigned traits) {
  return {.collective = what,
          .name = name,
          .component = "shm",
          .summary = summary,
          .excluded = excluded,
          .run = run,
          .traits = static_cast<std::uint8_t>(kInCallOrder | traits)};
}
constexpr Algorithm small(Collective what, Excluded excluded, Co (*run)(Op&, const Call&), unsigned traits = 0) {
  return of(what, "shm", "slots in shared memory", excluded, run, traits);
}
constexpr Algorithm large(Collective what, Excluded excluded, Co (*run)(Op&, const Call&), unsigned traits = 0) {
  return of(what, "shm_large", "in pieces through shared memory", excluded, run, traits);
}
constexpr Algorithm direct(Collective what, Excluded excluded, Co (*run)(Op&, const Call&), unsigned traits = 0) {
  return of(what, "direct", "copied once between the callers' buffers", excluded, run, kReaches | traits);
}

constexpr auto kShare = enter<share, share_need>;
constexpr auto kGather = enter<gather_blocks, gather_blocks_need>;
constexpr auto kScatter = enter<scatter_blocks, scatter_blocks_need>;
constexpr auto kExchange = enter<exchange_direct, direct_need>;
constexpr auto kCombine = enter<combine_direct, direct_need>;

constexpr Algorithm kAlgorithms[] = {
    small(Collective::kBarrier, needs_one_piece, enter<barrier, small_need>),
    small(Collective::kBcast, needs_one_piece, enter<bcast, small_need>),
    small(Collective::kReduce, needs_one_dense_piece, enter<reduce, small_need>, kFixedOrder),
    small(Collective::kAllreduce, needs_one_dense_piece, enter<allreduce, small_need>, kFixedOrder),
    small(Collective::kGather, needs_one_piece, enter<gather, small_need>),
    small(Collective::kScatter, needs_one_piece, enter<scatter, small_need>),
    small(Collective::kGatherv, needs_node, kGather),
    small(Collective::kScatterv, needs_node, kScatter),
    small(Collective::kAllgather, needs_one_piece, kShare),
    small(Collective::kAlltoall, needs_small_row, kShare),
    small(Collective::kReduceScatter, needs_one_dense_piece, kShare, kFixedOrder),
    small(Collective::kReduceScatterBlock, needs_one_dense_piece, kShare, kFixedOrder),
    small(Collective::kScan, needs_one_dense_piece, enter<prefix, small_need>, kFixedOrder),
    small(Collective::kExscan, needs_one_dense_piece, enter<prefix, small_need>, kFixedOrder),
    large(Collective::kBcast, needs_node, enter<bcast_large, large_need>),
    large(Collective::kReduce, needs_dense_items, enter<reduce_large, large_need>, kFixedOrder),
    large(Collective::kAllreduce, needs_dense_items, enter<allreduce_large, large_need>, kFixedOrder),
    direct(Collective::kBcast, needs_copies, enter<bcast_direct, bcast_direct_need>),
    direct(Collective::kGather, needs_copies, kGather),
    direct(Collective::kScatter, needs_copies, kScatter),
    direct(Collective::kAllgather, needs_copies_and_table, kExchange),
    direct(Collective::kAllgatherv, needs_copies_and_table, kExchange),
    direct(Collective::kAlltoall, needs_copies_and_table, kExchange),
    direct(Collective::kAlltoallv, needs_copies_and_table, kExchange),
    direct(Collective::kAlltoallw, needs_copies_and_table, kExchange),
    direct(Collective::kNeighborAllgather, needs_copies, kExchange, kListsEdges),
    direct(Collective::kNeighborAllgatherv, needs_copies, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoall, needs_copies, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoallv, needs_copies, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoallw, needs_copies, kExchange, kListsEdges),
    direct(Collective::kReduce, needs_dense_copies, kCombine, kFixedOrder),
    direct(Collective::kAllreduce, needs_dense_copies, kCombine, kFixedOrder),
    direct(Collective::kReduceScatter, needs_dense_copies, kCombine, kFixedOrder),
    direct(Collective::kReduceScatterBlock, needs_dense_copies, kCombine, kFixedOrder),
    direct(Collective::kScan, needs_dense_copies, kCombine, kFixedOrder),
    direct(Collective::kExscan, needs_dense_copies, kCombine, kFixedOrder),
};

}  // namespace

constexpr AlgorithmList kAlgorithmList{
    .size = sizeof(AlgorithmList), .count = sizeof kAlgorithms / sizeof kAlgorithms[0], .first = kAlgorithms};

}  // namespace ashlar::coll::shm

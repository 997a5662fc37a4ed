#include "components/coll/shm/catalogue.h"

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/exchange_table.h"
#include "components/coll/shm/module.h"

namespace ashlar::coll::shm {
namespace {

constexpr int kMostRanks = 1024;

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

/// An algorithm's function, and how far it counts.
struct Form {
  Co (*run)(Op& op, const Call& call);
  std::uint64_t (*counts_to)(Op& op, const Call& call, std::uint64_t from);
};
template <Body body, Need (*need_of)(const Op&, const Call&)>
constexpr Form form = {.run = enter<body, need_of>, .counts_to = counts_to<need_of>};

constexpr Algorithm of(Collective what, const char* name, const char* summary, const Form& form) {
  return {.collective = what,
          .name = name,
          .component = "shm",
          .summary = summary,
          .run = form.run,
          .traits = kInCallOrder,
          .counts_to = form.counts_to};
}
constexpr Algorithm small(Collective what, const Form& form) { return of(what, "shm", "slots in shared memory", form); }
constexpr Algorithm large(Collective what, const Form& form) {
  return of(what, "shm_large", "in pieces through shared memory", form);
}
constexpr Algorithm direct(Collective what, const Form& form) {
  return of(what, "direct", "copied once between the callers' buffers", form).with(kReaches);
}

constexpr Form kShare = form<share, share_need>;
constexpr Form kGather = form<gather_blocks, gather_blocks_need>;
constexpr Form kScatter = form<scatter_blocks, scatter_blocks_need>;
constexpr Form kExchange = form<exchange_direct, direct_need>;
constexpr Form kCombine = form<combine_direct, direct_need>;

constexpr Algorithm kAlgorithms[] = {
    small(Collective::kBarrier, form<barrier, small_need>).limited_by(needs_one_piece),
    small(Collective::kBcast, form<bcast, small_need>).limited_by(needs_one_piece),
    small(Collective::kReduce, form<reduce, small_need>).limited_by(needs_one_dense_piece).with(kFixedOrder),
    small(Collective::kAllreduce, form<allreduce, small_need>).limited_by(needs_one_dense_piece).with(kFixedOrder),
    small(Collective::kGather, form<gather, small_need>).limited_by(needs_one_piece),
    small(Collective::kScatter, form<scatter, small_need>).limited_by(needs_one_piece),
    small(Collective::kGatherv, kGather).limited_by(needs_node),
    small(Collective::kScatterv, kScatter).limited_by(needs_node),
    small(Collective::kAllgather, kShare).limited_by(needs_one_piece),
    small(Collective::kAlltoall, kShare).limited_by(needs_small_row),
    small(Collective::kReduceScatter, kShare).limited_by(needs_one_dense_piece).with(kFixedOrder),
    small(Collective::kReduceScatterBlock, kShare).limited_by(needs_one_dense_piece).with(kFixedOrder),
    small(Collective::kScan, form<prefix, small_need>).limited_by(needs_one_dense_piece).with(kFixedOrder),
    small(Collective::kExscan, form<prefix, small_need>).limited_by(needs_one_dense_piece).with(kFixedOrder),
    large(Collective::kBcast, form<bcast_large, large_need>).limited_by(needs_node),
    large(Collective::kReduce, form<reduce_large, large_need>).limited_by(needs_dense_items).with(kFixedOrder),
    large(Collective::kAllreduce, form<allreduce_large, large_need>).limited_by(needs_dense_items).with(kFixedOrder),
    direct(Collective::kBcast, form<bcast_direct, bcast_direct_need>).limited_by(needs_copies),
    direct(Collective::kGather, kGather).limited_by(needs_copies),
    direct(Collective::kScatter, kScatter).limited_by(needs_copies),
    direct(Collective::kAllgather, kExchange).limited_by(needs_copies_and_table),
    direct(Collective::kAllgatherv, kExchange).limited_by(needs_copies_and_table),
    direct(Collective::kAlltoall, kExchange).limited_by(needs_copies_and_table),
    direct(Collective::kAlltoallv, kExchange).limited_by(needs_copies_and_table),
    direct(Collective::kAlltoallw, kExchange).limited_by(needs_copies_and_table),
    direct(Collective::kNeighborAllgather, kExchange).limited_by(needs_copies).with(kListsEdges),
    direct(Collective::kNeighborAllgatherv, kExchange).limited_by(needs_copies).with(kListsEdges),
    direct(Collective::kNeighborAlltoall, kExchange).limited_by(needs_copies).with(kListsEdges),
    direct(Collective::kNeighborAlltoallv, kExchange).limited_by(needs_copies).with(kListsEdges),
    direct(Collective::kNeighborAlltoallw, kExchange).limited_by(needs_copies).with(kListsEdges),
    direct(Collective::kReduce, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
    direct(Collective::kAllreduce, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
    direct(Collective::kReduceScatter, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
    direct(Collective::kReduceScatterBlock, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
    direct(Collective::kScan, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
    direct(Collective::kExscan, kCombine).limited_by(needs_dense_copies).with(kFixedOrder),
};

}  // namespace

constexpr AlgorithmList kAlgorithmList = list_of(kAlgorithms);

}  // namespace ashlar::coll::shm

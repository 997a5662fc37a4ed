#include "framework/coll/rounds.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <new>

#include "framework/base/failure.h"
#include "framework/coll/op.h"
#include "framework/plugin/host.h"
#include "framework/plugin/tables.h"

namespace ashlar::coll {
namespace {

/// What a round's services work on. It lies in the operation's block.
struct RoundOp {
  ashlar_coll_op head;
  ashlar_coll_call described;
  Op* op;
  const Call* call;
  Gate* gate;
};

RoundOp& of(ashlar_coll_op* head) { return *reinterpret_cast<RoundOp*>(head); }

ashlar_coll_data described(const DataView& view) {
  if (!view.type) return {};
  return {.items = view.data,
          .count = static_cast<std::uint64_t>(view.count),
          .item_bytes = static_cast<std::uint64_t>(view.type->size()),
          .extent = view.type->extent()};
}

// Which of the two types a side means. A broadcast has one, a gather at a leaf sends alone.
Datatype* type_of(const Call& call, std::int32_t side) {
  Datatype* const first = side == ASHLAR_COLL_SEND ? call.send.type : call.recv.type;
  return first ? first : side == ASHLAR_COLL_SEND ? call.recv.type : call.send.type;
}

DataView view_of(const RoundOp& r, std::int32_t side, const void* items, std::uint64_t count) {
  if (side == ASHLAR_COLL_BYTES) return Op::view(items, static_cast<MPI_Count>(count));
  return DataView::of(items, static_cast<MPI_Count>(count), *type_of(*r.call, side));
}

bool known(RoundOp& r, std::int32_t side) {
  if (side == ASHLAR_COLL_BYTES) return true;
  if ((side == ASHLAR_COLL_SEND || side == ASHLAR_COLL_RECV) && type_of(*r.call, side)) return true;
  r.op->fail(fail(MPI_ERR_OTHER, "coll.round_side", {{"algorithm", r.op->algorithm()->name}, {"value", side}}));
  return false;
}

bool is_rank(RoundOp& r, std::int32_t rank) {
  if (rank >= 0 && rank < r.op->size()) return true;
  r.op->fail(fail(MPI_ERR_OTHER, "coll.round_rank",
                  {{"algorithm", r.op->algorithm()->name}, {"value", rank}, {"last", r.op->size() - 1}}));
  return false;
}

void send(ashlar_coll_op* head, std::int32_t to, std::int32_t side, const void* items, std::uint64_t count) {
  RoundOp& r = of(head);
  if (is_rank(r, to) && known(r, side)) r.op->send(to, view_of(r, side, items, count), *r.gate);
}

void recv(ashlar_coll_op* head, std::int32_t from, std::int32_t side, void* items, std::uint64_t count) {
  RoundOp& r = of(head);
  if (is_rank(r, from) && known(r, side)) r.op->recv(from, view_of(r, side, items, count), *r.gate);
}

void reduce(ashlar_coll_op* head, const void* in, void* inout, std::uint64_t count) {
  RoundOp& r = of(head);
  if (r.call->op) {
    r.op->combine(*r.call, in, inout, static_cast<MPI_Count>(count));
  } else {
    r.op->fail(fail(MPI_ERR_OTHER, "coll.round_reduces", {{"algorithm", r.op->algorithm()->name}}));
  }
}

void copy(ashlar_coll_op* head, std::int32_t from_side, const void* from, std::uint64_t from_count,
          std::int32_t to_side, void* to, std::uint64_t to_count) {
  RoundOp& r = of(head);
  if (known(r, from_side) && known(r, to_side))
    r.op->copy(view_of(r, from_side, from, from_count), view_of(r, to_side, to, to_count));
}

void* scratch(ashlar_coll_op* head, std::int32_t side, std::uint64_t count) {
  RoundOp& r = of(head);
  if (!known(r, side)) return nullptr;
  const auto items = static_cast<MPI_Count>(count);
  return side == ASHLAR_COLL_BYTES ? r.op->scratch(items) : r.op->scratch_items(items, *type_of(*r.call, side));
}

ashlar_coll_data block(ashlar_coll_op* head, std::int32_t side, std::int32_t rank) {
  RoundOp& r = of(head);
  if (!is_rank(r, rank) || !known(r, side)) return {};
  if (side == ASHLAR_COLL_RECV && r.call->what == Collective::kReduceScatter) {
    ashlar_coll_data piece = described(r.call->send);
    piece.items = nullptr;
    piece.count = static_cast<std::uint64_t>(r.call->piece(rank));
    return piece;
  }
  return described(side == ASHLAR_COLL_SEND ? r.call->send_block(rank) : r.call->recv_block(rank));
}

constexpr ashlar_coll_services kServices{.size = sizeof kServices,
                                         .send = send,
                                         .recv = recv,
                                         .reduce = reduce,
                                         .copy = copy,
                                         .scratch = scratch,
                                         .block = block};

RoundOp* make_op(Op& op, const Call& call, const ashlar_coll_algorithm& row, Gate& gate) {
  std::byte* const memory = op.scratch(sizeof(RoundOp));
  void* state = nullptr;
  if (row.state_bytes > 0) {
    state = op.scratch(static_cast<MPI_Count>(row.state_bytes));
    if (state) std::memset(state, 0, row.state_bytes);
  }
  if (!memory || (row.state_bytes > 0 && !state)) return nullptr;  // the operation knows
  auto* const r = ::new (memory) RoundOp{.head = {}, .described = {}, .op = &op, .call = &call, .gate = &gate};
  r->described = {.size = sizeof(ashlar_coll_call),
                  .ranks = op.size(),
                  .rank = op.rank(),
                  .root = call.root,
                  .bytes = static_cast<std::uint64_t>(call.bytes),
                  .in_place = call.in_place,
                  .commutes = call.op == nullptr || call.op->commutative(),
                  .send = described(call.send),
                  .recv = described(call.recv)};
  r->head = {.services = &kServices, .call = &r->described, .state = state};
  return r;
}

Co run_rounds(Op& op, const Call& call) {
  const Algorithm& algorithm = *op.algorithm();
  Gate gate;
  RoundOp* const r = make_op(op, call, *algorithm.row, gate);
  if (r == nullptr) co_return op.failure();
  std::int32_t answer = ASHLAR_COLL_MORE;
  for (std::uint32_t number = 0; answer == ASHLAR_COLL_MORE; ++number) {
    answer = algorithm.row->round(&r->head, number);
    if (answer < 0) op.fail(plugin::from(answer, algorithm.component));
    Status st;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace

const char* row_excluded(const ashlar_coll_algorithm& row, const Shape& shape, const Call& call) {
  const auto ranks = static_cast<unsigned>(shape.ranks);
  if ((row.needs & ASHLAR_COLL_POWER_OF_TWO) && !std::has_single_bit(ranks))
    return "the number of ranks is not a power of two";
  if ((row.needs & ASHLAR_COLL_ONE_NODE) && shape.nodes != 1) return "the ranks are on several nodes";
  if ((row.needs & ASHLAR_COLL_COMMUTING) && call.op && !call.op->commutative())
    return "the operation does not commute";
  if ((row.needs & ASHLAR_COLL_ITEM_PER_RANK) && call.op && call.send.count < shape.ranks)
    return "fewer items than ranks";
  if (!row.excluded) return nullptr;
  const ashlar_coll_shape group{.size = sizeof group,
                                .ranks = shape.ranks,
                                .nodes = shape.nodes,
                                .node_ranks = shape.node_ranks,
                                .in_runs = shape.in_runs};
  ashlar_coll_call seen{};
  seen.size = sizeof seen;
  seen.ranks = shape.ranks;
  seen.root = call.root;
  seen.bytes = static_cast<std::uint64_t>(call.bytes);
  seen.commutes = call.op == nullptr || call.op->commutative();
  return row.excluded(&group, &seen);
}

Status RoundsModule::add(const ashlar_coll_algorithm& theirs, const char* component) {
  const ashlar_coll_algorithm& row = rows_.emplace_back(plugin::whole(theirs));
  Collective what = Collective::kBarrier;
  const char* const missing = !row.collective ? "collective" : !row.name ? "name" : !row.round ? "round" : nullptr;
  if (missing)
    return fail(MPI_ERR_OTHER, "coll.row_incomplete",
                {{"component", component}, {"index", rows_.size() - 1}, {"missing", missing}});
  if (!parse_collective(row.collective, &what) || what == Collective::kAlltoallw || among_neighbours(what))
    return fail(MPI_ERR_OTHER, "coll.row_collective",
                {{"component", component}, {"algorithm", row.name}, {"value", row.collective}});
  const unsigned fixed = row.fixed_order ? kFixedOrder : 0;
  algorithms_.push_back({.collective = what,
                         .name = row.name,
                         .component = component,
                         .summary = row.summary ? row.summary : "",
                         .run = run_rounds,
                         .excluded = nullptr,
                         .traits = static_cast<std::uint8_t>(fixed),
                         .row = &row});
  const auto most = [](auto limit, auto none) { return limit > 0 ? limit : none; };
  for (std::uint32_t i = 0; row.prefer && i < row.prefer_count; ++i) {
    const ashlar_coll_range& range = row.prefer[i];
    Rule& rule = rules_.emplace_back();
    rule.collective = what;
    rule.ranks = {range.least_ranks, most(range.most_ranks, INT_MAX)};
    rule.nodes = {range.least_nodes, most(range.most_nodes, INT_MAX)};
    const std::uint64_t bytes = std::min<std::uint64_t>(most(range.most_bytes, UINT64_MAX), INT64_MAX);
    rule.bytes = {static_cast<MPI_Count>(std::min<std::uint64_t>(range.least_bytes, INT64_MAX)),
                  static_cast<MPI_Count>(bytes)};
    rule.algorithm = row.name;
    rule.source = Rule::Source::kComponent;
    rule.origin = texts_.emplace_back("preferred by component " + std::string(component)).c_str();
  }
  return {};
}

Status RoundsModule::make(const ashlar_coll& module, const char* component, std::unique_ptr<RoundsModule>* out) {
  std::unique_ptr<RoundsModule> made(new (std::nothrow) RoundsModule);
  if (!made) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the algorithms of a component"}});
  const auto* row = reinterpret_cast<const std::byte*>(module.ops->rows);
  // Every row has the length that its maker's headers gave it.
  for (std::uint32_t i = 0; i < module.ops->count; ++i) {
    const auto& theirs = *reinterpret_cast<const ashlar_coll_algorithm*>(row);
    ASHLAR_TRY(made->add(theirs, component));
    row += theirs.size;
  }
  *out = std::move(made);
  return {};
}

}  // namespace ashlar::coll

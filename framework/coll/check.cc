#include "framework/coll/check.h"

#include <cstdio>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/coll/call_records.h"
#include "framework/coll/check_types.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/lane_collectives.h"
#include "framework/coll/op.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

std::int64_t bytes_of(const DataView& data) { return data.type == nullptr ? -1 : data.bytes(); }

std::uint64_t mixed(std::uint64_t hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

bool pairwise(Collective what) { return what == Collective::kAlltoallv || what == Collective::kAlltoallw; }

/// How the ranks of a call are grouped, as this rank sees it.
struct Sides {
  bool inter;
  int own, partners;  // ranks of this rank's group, and of the group that it exchanges data with
  int group;          // 0: the group of the rank that compares

  static Sides of(const Op& op) {
    const CommState* const state = op.comm();
    if (state == nullptr || !state->comm.inter)
      return Sides{.inter = false, .own = op.size(), .partners = op.size(), .group = 0};
    const Comm& comm = state->comm;
    // Of the two ranks 0, the one with the lower process number compares.
    const bool second = (*comm.remote_group)[0] < (*comm.local_group)[0];
    return Sides{.inter = true, .own = comm.size, .partners = comm.remote_size, .group = second ? 1 : 0};
  }
  std::size_t stride() const {
    const auto most = static_cast<std::size_t>(own > partners ? own : partners);
    return sizeof(CallRecord) + 2 * most * sizeof(std::int64_t);
  }
};

/// Writes the record of this rank's call; returns its length.
MPI_Count write_record(const Op& op, const Sides& sides, const Call& call, CallForm form, std::byte* to) {
  CallRecord r{};
  r.sends = r.gets = -1;
  r.what = static_cast<std::int32_t>(call.what);
  r.form = static_cast<std::int32_t>(form);
  r.root = call.root;
  r.rank = op.rank();
  r.group = sides.group;
  r.op = call.op == nullptr ? -1 : static_cast<std::int32_t>(call.op->code()) * 2 + (call.op->commutative() ? 1 : 0);
  if (sides.inter && call.root == MPI_PROC_NULL) r.op = -1;
  auto* const pieces = reinterpret_cast<std::int64_t*>(to + sizeof(CallRecord));
  const auto list = [&](bool outgoing) {
    for (Rank i = 0; i < sides.partners; ++i) {
      const bool other_way = call.in_place && pairwise(call.what);
      pieces[r.pieces++] = bytes_of(outgoing && !other_way ? call.send_block(i) : call.recv_block(i));
    }
  };
  if (pairwise(call.what)) {
    list(true);
    list(false);
  } else if (call.what == Collective::kAllgatherv) {
    r.sends = bytes_of(call.in_place ? call.recv_block(op.rank()) : call.send);
    list(false);
  } else if (call.what == Collective::kGatherv && call.recv_counts) {
    r.sends = bytes_of(call.send);
    list(false);
  } else if (call.what == Collective::kScatterv && call.send_counts) {
    r.gets = bytes_of(call.recv);
    list(true);
  } else if (!among_neighbours(call.what)) {
    r.sends = bytes_of(call.send);
    r.gets = bytes_of(call.recv);
    // One buffer: it is sent and received.
    const bool from_there =
        call.in_place && (call.what == Collective::kAllgather || call.what == Collective::kAlltoall);
    if (call.what == Collective::kBcast || from_there) r.sends = r.gets;
    if (call.recv_counts) {  // reduce_scatter
      r.counts = 1;
      for (Rank i = 0; i < sides.own; ++i) r.counts = mixed(r.counts, call.piece(i));
    }
  }
  std::memcpy(to, &r, sizeof r);
  return static_cast<MPI_Count>(sizeof r) + r.pieces * MPI_Count{sizeof(std::int64_t)};
}

Status failure_of(const Mismatch& mismatch) {
  return fail(mismatch.mpi_class, "coll.checked", {{"difference", mismatch.text}});
}

/// Gathers the records of all ranks at rank 0, and broadcasts the first mismatch from there. On an intercommunicator a
/// record goes to the rank 0 of the other group; one of these two passes its records on, and the result returns the
/// same way.
Co compare_calls(Op& op, const Call& call, CallForm form) {
  const Sides sides = Sides::of(op);
  const std::size_t stride = sides.stride();
  const auto room = static_cast<MPI_Count>(stride);
  const bool first = op.rank() == 0;
  const bool compares = first && sides.group == 0;
  std::byte* const mine = op.scratch(room);
  // The first rank of each group gathers records: those of its own group, or of the other.
  std::byte* const records = first ? op.scratch(room * (sides.own + sides.partners)) : mine;
  if (records == nullptr) co_return op.failure();
  if (first) std::memset(records, 0, stride * static_cast<std::size_t>(sides.own + sides.partners));
  Gate gate;
  Status st;
  Mismatch mismatch{.mpi_class = 0, .text = ""};
  std::memset(mine, 0, stride);  // messages have one length, whatever the records have
  const MPI_Count length = write_record(op, sides, call, form, mine);
  if (sides.inter) {
    // In the table of the rank that compares, its own group comes first.
    std::byte* const theirs = records + (compares ? room * sides.own : 0);
    op.send(0, mine, room, gate);
    for (Rank r = 0; first && r < sides.partners; ++r) op.recv(r, theirs + room * r, room, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    if (compares) op.recv(0, records, room * sides.own, gate);
    if (first && !compares) op.send(0, records, room * sides.partners, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    if (compares) {
      mismatch = find_mismatch(CallTable{.first = records, .stride = stride, .ranks = {sides.own, sides.partners}});
      for (Rank r = 0; r < sides.partners; ++r) op.send(r, &mismatch, sizeof mismatch, gate);
    } else {
      op.recv(0, &mismatch, sizeof mismatch, gate);
    }
    st = co_await gate;
    if (!st.ok()) co_return st;
    for (Rank r = 0; first && !compares && r < sides.partners; ++r) {
      if (r != 0) op.send(r, &mismatch, sizeof mismatch, gate);
    }
    st = co_await gate;
  } else if (!first) {
    op.send(0, mine, room, gate);
    op.recv(0, &mismatch, sizeof mismatch, gate);
    st = co_await gate;
  } else {
    std::memcpy(records, mine, static_cast<std::size_t>(length));
    for (Rank r = 1; r < sides.own; ++r) op.recv(r, records + room * r, room, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    mismatch = find_mismatch(CallTable{.first = records, .stride = stride, .ranks = {sides.own, 0}});
    for (Rank r = 1; r < sides.own; ++r) op.send(r, &mismatch, sizeof mismatch, gate);
    st = co_await gate;
  }
  if (!st.ok()) co_return st;
  if (mismatch.mpi_class != 0) co_return failure_of(mismatch);
  co_return st;
}

void count_compared(const CommState& state) ASHLAR_NO_THREAD_SAFETY { state.comm.lane->coll->counters.compared.add(); }

}  // namespace

void name_of_call(Collective what, CallForm form, char* out, std::size_t room) {
  static constexpr const char* kBefore[] = {"", "i", ""};
  static constexpr const char* kBehind[] = {"", "", "_init"};
  const auto at = static_cast<std::size_t>(form);
  std::snprintf(out, room, "MPI_%s%s%s", kBefore[at], name_of(what), kBehind[at]);
  out[4] = static_cast<char>(out[4] - 'a' + 'A');
}

Co checked(Op& op, const Call& call, const Algorithm& algorithm, CallForm form) {
  Gate gate;
  Status st;
  if (op.comm()->engine.checks.collectives) {
    count_compared(*op.comm());
    const Co calls = compare_calls(op, call, form);
    op.join(calls, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (call.what != Collective::kBarrier) {
    const Co types = compare_types(op, call, form);
    op.join(types, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (call.is_nothing(op.size(), op.comm()->comm.inter)) co_return st;
  const Co child = algorithm.run(op, call);
  op.join(child, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll

#include "framework/coll/check.h"

#include <cstdio>
#include <cstring>

#include "framework/coll/check_types.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/coll/room.h"
#include "framework/object/topology.h"

namespace ashlar::coll {
namespace {

/// What one rank says of its call. Behind it, in the v-forms, lie the bytes of each block: gatherv and scatterv at the
/// root, alltoallv and w on every rank (those that leave, then those that arrive).
struct Record {
  std::int32_t what, form;
  std::int32_t root, op;
  std::int64_t send_bytes, recv_bytes;  // of this rank's contribution and of what it gets; -1: not significant
  std::uint64_t sizes;                  // a hash of the counts that all ranks pass alike
  std::int64_t blocks;                  // numbers behind the record
};

struct Verdict {
  std::int32_t mpi_class;  // 0: all agree
  char text[484];
};

std::uint64_t mixed(std::uint64_t hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

bool at_root(Collective what) { return what == Collective::kGatherv || what == Collective::kScatterv; }
bool pairwise(Collective what) { return what == Collective::kAlltoallv || what == Collective::kAlltoallw; }

Record record_of(const Op& op, const Call& call, Form form) {
  Record r{static_cast<std::int32_t>(call.what), static_cast<std::int32_t>(form), call.root, -1, -1, -1, 0, 0};
  if (call.op != nullptr) r.op = static_cast<std::int32_t>(call.op->code()) * 2 + (call.op->commutative() ? 1 : 0);
  if (among_neighbours(call.what) || pairwise(call.what)) {
    r.blocks = pairwise(call.what) ? 2 * op.size() : 0;
    return r;
  }
  if (call.send.type != nullptr) r.send_bytes = call.send.bytes();
  if (call.recv.type != nullptr) r.recv_bytes = call.recv.bytes();
  if (at_root(call.what)) {
    if (op.rank() == call.root) r.blocks = op.size();
    if (call.what == Collective::kGatherv) r.recv_bytes = -1;
    if (call.what == Collective::kScatterv && op.rank() == call.root) r.send_bytes = -1;
  } else if (call.recv_counts) {
    for (Rank i = 0; i < op.size(); ++i)
      r.sizes = mixed(r.sizes, call.recv_counts[static_cast<std::size_t>(i)] * call.recv.type->size());
    if (call.what == Collective::kAllgatherv) r.recv_bytes = call.recv_block(op.rank()).bytes();
  }
  return r;
}

void write_blocks(const Op& op, const Call& call, std::int64_t* to) {
  for (Rank i = 0; i < op.size(); ++i) {
    if (pairwise(call.what)) {
      to[i] = (call.in_place ? call.recv_block(i) : call.send_block(i)).bytes();
      to[op.size() + i] = call.recv_block(i).bytes();
    } else {
      to[i] = (call.what == Collective::kGatherv ? call.recv_block(i) : call.send_block(i)).bytes();
    }
  }
}

/// Everyone's records, as rank 0 has them.
struct Table {
  const std::byte* first;
  std::size_t stride;
  int ranks;

  const Record& operator[](Rank r) const {
    return *reinterpret_cast<const Record*>(first + stride * static_cast<std::size_t>(r));
  }
  const std::int64_t* blocks(Rank r) const { return reinterpret_cast<const std::int64_t*>(&(*this)[r] + 1); }
};

/// A value of a record that all ranks must agree on.
struct Aspect {
  std::int64_t (*of)(const Record&);
  int mpi_class;
  const char* says;  // "%s passed root %lld"
};

void name_of_call(const Record& r, char* out, std::size_t room) {
  coll::name_of_call(static_cast<Collective>(r.what), static_cast<Form>(r.form), out, room);
}

/// The value most ranks have; of two the lower rank's.
Rank usual(const Table& all, std::int64_t (*of)(const Record&)) {
  Rank best = 0;
  int most = 0;
  for (Rank r = 0; r < all.ranks && most * 2 <= all.ranks; ++r) {
    int same = 0;
    for (Rank other = r; other < all.ranks; ++other) same += of(all[other]) == of(all[r]) ? 1 : 0;
    if (same > most) {
      most = same;
      best = r;
    }
  }
  return best;
}

void say(Verdict* verdict, int mpi_class, const char* text) {
  verdict->mpi_class = mpi_class;
  std::snprintf(verdict->text, sizeof verdict->text, "%s", text);
}

/// Whether all ranks have the same value; else a sentence about the first that differs, and how many do.
bool agree(const Table& all, const Aspect& aspect, Verdict* verdict) {
  const Rank base = usual(all, aspect.of);
  Rank first = -1;
  int others = 0;
  for (Rank r = 0; r < all.ranks; ++r) {
    if (aspect.of(all[r]) == aspect.of(all[base])) continue;
    if (first < 0) first = r;
    ++others;
  }
  if (first < 0) return true;
  char call[64], theirs[100], ours[100], text[400];
  name_of_call(all[first], call, sizeof call);
  std::snprintf(theirs, sizeof theirs, aspect.says, static_cast<long long>(aspect.of(all[first])));
  std::snprintf(ours, sizeof ours, aspect.says, static_cast<long long>(aspect.of(all[base])));
  std::snprintf(text, sizeof text,
                "the ranks do not agree in %s: rank %d passed %s, but rank %d passed %s (%d of %d "
                "ranks differ from it)",
                call, first, theirs, base, ours, others, all.ranks);
  say(verdict, aspect.mpi_class, text);
  return false;
}

bool same_call(const Table& all, Verdict* verdict) {
  const auto key = [](const Record& r) { return std::int64_t{r.what} * 4 + r.form; };
  const Rank base = usual(all, key);
  Rank first = -1;
  int others = 0;
  for (Rank r = 0; r < all.ranks; ++r) {
    if (key(all[r]) == key(all[base])) continue;
    if (first < 0) first = r;
    ++others;
  }
  if (first < 0) return true;
  char theirs[64], ours[64], text[400];
  name_of_call(all[first], theirs, sizeof theirs);
  name_of_call(all[base], ours, sizeof ours);
  std::snprintf(text, sizeof text,
                "the ranks are in different collectives: rank %d called %s, but rank %d called %s (%d "
                "of %d ranks differ from it). Collectives are called in the same order, and in the same form, by all "
                "ranks of a communicator",
                first, theirs, base, ours, others, all.ranks);
  say(verdict, MPI_ERR_OTHER, text);
  return false;
}

/// What `from` hands over is what `to` expects of it.
bool meet(const Table& all, Rank from, std::int64_t sent, Rank to, std::int64_t expected, Verdict* verdict) {
  if (sent == expected) return true;
  char call[64], text[400];
  name_of_call(all[from], call, sizeof call);
  std::snprintf(text, sizeof text,
                "the ranks do not agree in %s: rank %d sends %lld bytes to rank %d, which expects "
                "%lld",
                call, from, static_cast<long long>(sent), to, static_cast<long long>(expected));
  say(verdict, MPI_ERR_COUNT, text);
  return false;
}

bool sizes_meet(const Table& all, Verdict* verdict) {
  const Record& any = all[0];
  const auto what = static_cast<Collective>(any.what);
  const Rank root = any.root;
  switch (what) {
    case Collective::kGather:
    case Collective::kGatherv:
      for (Rank r = 0; r < all.ranks; ++r) {
        if (all[r].send_bytes < 0) continue;  // in place
        const std::int64_t expected = what == Collective::kGather ? all[root].recv_bytes : all.blocks(root)[r];
        if (!meet(all, r, all[r].send_bytes, root, expected, verdict)) return false;
      }
      return true;
    case Collective::kScatter:
    case Collective::kScatterv:
      for (Rank r = 0; r < all.ranks; ++r) {
        if (all[r].recv_bytes < 0) continue;
        const std::int64_t sent = what == Collective::kScatter ? all[root].send_bytes : all.blocks(root)[r];
        if (!meet(all, root, sent, r, all[r].recv_bytes, verdict)) return false;
      }
      return true;
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
      for (Rank from = 0; from < all.ranks; ++from) {
        for (Rank to = 0; to < all.ranks; ++to) {
          if (!meet(all, from, all.blocks(from)[to], to, all.blocks(to)[all.ranks + from], verdict)) return false;
        }
      }
      return true;
    case Collective::kAllgather:
    case Collective::kAllgatherv:
    case Collective::kAlltoall:
      for (Rank r = 0; r < all.ranks; ++r) {
        if (all[r].send_bytes >= 0 && !meet(all, r, all[r].send_bytes, r, all[r].recv_bytes, verdict)) return false;
      }
      return true;
    default:
      return true;
  }
}

Verdict judge(const Table& all) {
  Verdict verdict{0, ""};
  if (!same_call(all, &verdict)) return verdict;
  const auto what = static_cast<Collective>(all[0].what);
  if (what == Collective::kBarrier || among_neighbours(what)) return verdict;
  static constexpr Aspect kRoot{[](const Record& r) { return std::int64_t{r.root}; }, MPI_ERR_ROOT, "root %lld"};
  static constexpr Aspect kOp{[](const Record& r) { return std::int64_t{r.op / 2}; }, MPI_ERR_OP,
                              "another operation (number %lld)"};
  static constexpr Aspect kCommute{[](const Record& r) { return std::int64_t{r.op % 2}; }, MPI_ERR_OP,
                                   "an operation with commute %lld"};
  static constexpr Aspect kSent{[](const Record& r) { return r.send_bytes; }, MPI_ERR_COUNT, "%lld bytes"};
  static constexpr Aspect kReceived{[](const Record& r) { return r.recv_bytes; }, MPI_ERR_COUNT, "%lld bytes"};
  static constexpr Aspect kSizes{[](const Record& r) { return static_cast<std::int64_t>(r.sizes); }, MPI_ERR_COUNT,
                                 "other counts (fingerprint %llx)"};
  if (!agree(all, kRoot, &verdict)) return verdict;
  if (reduces(what)) {
    if (agree(all, kOp, &verdict) && agree(all, kCommute, &verdict) && agree(all, kSent, &verdict))
      agree(all, kSizes, &verdict);
    return verdict;
  }
  if (what == Collective::kBcast) {
    agree(all, kReceived, &verdict);
    return verdict;
  }
  const bool alike = what == Collective::kAllgather || what == Collective::kAlltoall;
  if (alike && !agree(all, kReceived, &verdict)) return verdict;
  if (what == Collective::kAllgatherv && !agree(all, kSizes, &verdict)) return verdict;
  sizes_meet(all, &verdict);
  return verdict;
}

Co compare_calls(Op& op, const Call& call, Form form) {
  const int size = op.size();
  const std::size_t stride = sizeof(Record) + 2 * static_cast<std::size_t>(size) * sizeof(std::int64_t);
  const MPI_Count room = static_cast<MPI_Count>(stride) * (op.rank() == 0 ? size : 1);
  std::byte* const records = op.scratch(room);
  if (records == nullptr) co_return op.failure();
  Gate gate;
  Status st;
  Verdict verdict;
  const Record mine = record_of(op, call, form);
  std::memcpy(records, &mine, sizeof mine);
  if (mine.blocks > 0) write_blocks(op, call, reinterpret_cast<std::int64_t*>(records + sizeof mine));
  if (op.rank() != 0) {
    const auto length = static_cast<MPI_Count>(sizeof mine) + mine.blocks * MPI_Count{sizeof(std::int64_t)};
    op.send(0, records, length, gate);
    op.recv(0, &verdict, sizeof verdict, gate);
    st = co_await gate;
  } else {
    for (Rank r = 1; r < size; ++r)
      op.recv(r, records + stride * static_cast<std::size_t>(r), static_cast<MPI_Count>(stride), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    verdict = judge(Table{records, stride, size});
    for (Rank r = 1; r < size; ++r) op.send(r, &verdict, sizeof verdict, gate);
    st = co_await gate;
  }
  if (!st.ok()) co_return st;
  if (verdict.mpi_class != 0) co_return Status::fail(verdict.mpi_class, "%s", verdict.text);
  co_return st;
}

}  // namespace

void name_of_call(Collective what, Form form, char* out, std::size_t room) {
  static constexpr const char* kBefore[] = {"", "i", ""};
  static constexpr const char* kBehind[] = {"", "", "_init"};
  const auto at = static_cast<std::size_t>(form);
  std::snprintf(out, room, "MPI_%s%s%s", kBefore[at], name_of(what), kBehind[at]);
  out[4] = static_cast<char>(out[4] - 'a' + 'A');
}

Co checked(Op& op, const Call& call, const Algorithm& algorithm, Form form) {
  const bool inter = op.comm()->comm.inter;
  Gate gate;
  Status st;
  if (!inter && Room::current()->checks.collectives) {
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
  if (call.is_nothing(op.size(), inter)) co_return st;
  const Co child = algorithm.run(op, call);
  op.join(child, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll

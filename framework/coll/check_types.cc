#include "framework/coll/check_types.h"

#include <cstdio>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/describe.h"
#include "framework/coll/op.h"
#include "framework/datatype/signature_words.h"
#include "framework/object/topology.h"

namespace ashlar::coll {
namespace {

/// The type signature of data that a rank sends to another, or expects of it. All zero: no data.
struct SignatureRecord {
  std::uint64_t hash;
  std::int64_t elements, bytes;
  char words[104];
};

/// The first difference, as a message to all ranks.
struct TypeMismatch {
  std::int32_t wrong;
  char text[508];
};

SignatureRecord record_of(const DataView& data) {
  SignatureRecord record;
  std::memset(&record, 0, sizeof record);
  if (data.bytes() == 0) {
    std::snprintf(record.words, sizeof record.words, "nothing");
    return record;
  }
  const datatype::Signature signature = datatype::signature_of(data);
  record.hash = signature.hash;
  record.elements = signature.elements;
  record.bytes = data.bytes();
  datatype::describe_signature(data, record.words, sizeof record.words);
  return record;
}

/// Unlike a receive, a collective wants the same number of elements on both sides.
bool match(const SignatureRecord& a, const SignatureRecord& b) {
  if (a.hash == b.hash && a.elements == b.elements) return true;
  return a.bytes == b.bytes && (datatype::is_packed(a.hash, a.elements) || datatype::is_packed(b.hash, b.elements));
}

/// The data that one rank sends and receives in a call, by peer: a rank, or among neighbours the number of an edge.
class Flows {
 public:
  Flows(const Comm& comm, const Call& call) : comm_(comm), call_(call), near_(among_neighbours(call.what)) {}

  int receivers() const { return near_ ? call_.topology->outdegree() : comm_.remote_size; }
  int senders() const { return near_ ? call_.topology->indegree() : comm_.remote_size; }

  /// The rank of receiver i and the data for it; MPI_PROC_NULL: never any.
  Rank receiver(int i, DataView* data) const {
    if (near_) {
      const bool same = call_.what == Collective::kNeighborAllgather || call_.what == Collective::kNeighborAllgatherv;
      const Rank rank = call_.topology->destinations()[static_cast<std::size_t>(i)];
      if (rank != MPI_PROC_NULL) *data = same ? call_.send : call_.send_block(i);
      return rank;
    }
    return sends_to(i, data) ? i : MPI_PROC_NULL;
  }
  /// The rank of sender i and the data expected of it; MPI_PROC_NULL: never any.
  Rank sender(int i, DataView* data) const {
    if (near_) {
      const Rank rank = call_.topology->sources()[static_cast<std::size_t>(in_order(i))];
      if (rank != MPI_PROC_NULL) *data = call_.recv_block(in_order(i));
      return rank;
    }
    return receives_from(i, data) ? i : MPI_PROC_NULL;
  }

 private:
  /// On a grid of one or two ranks along a dimension both neighbours there are the same rank: what it sent down comes
  /// from above. So receives are posted the other way round, as the algorithm does.
  int in_order(int i) const { return call_.topology->form() == MPI_CART ? i ^ 1 : i; }

  bool sends_to(Rank to, DataView* data) const {
    switch (call_.what) {
      case Collective::kBcast:
        *data = call_.recv;
        return is_root(comm_, call_.root);
      case Collective::kReduce:
        *data = call_.send;
        return is_leaf(comm_, call_.root) && to == (comm_.inter ? call_.root : 0);
      case Collective::kGather:
      case Collective::kGatherv:
        *data = call_.send;
        return is_leaf(comm_, call_.root) && !call_.in_place && to == call_.root;
      case Collective::kScatter:
      case Collective::kScatterv:
        if (!is_root(comm_, call_.root) || (call_.in_place && to == comm_.rank)) return false;
        *data = call_.send_block(to);
        return true;
      case Collective::kAllgather:
      case Collective::kAllgatherv:
        *data = call_.in_place ? call_.recv_block(comm_.rank) : call_.send;
        return true;
      case Collective::kAlltoall:
      case Collective::kAlltoallv:
      case Collective::kAlltoallw:
        *data = call_.in_place ? call_.recv_block(to) : call_.send_block(to);
        return true;
      default:
        *data = call_.send;
        return reduces(call_.what) && to == 0;
    }
  }

  bool receives_from(Rank from, DataView* data) const {
    switch (call_.what) {
      case Collective::kBcast:
        *data = call_.recv;
        return from == call_.root;
      case Collective::kReduce:
        *data = comm_.inter ? call_.recv : call_.send;
        return comm_.inter ? is_root(comm_, call_.root) : comm_.rank == 0;
      case Collective::kGather:
      case Collective::kGatherv:
        if (!is_root(comm_, call_.root) || (call_.in_place && from == comm_.rank)) return false;
        *data = call_.recv_block(from);
        return true;
      case Collective::kScatter:
      case Collective::kScatterv:
        *data = call_.recv;
        return from == call_.root && !call_.in_place;
      case Collective::kAllgather:
      case Collective::kAllgatherv:
      case Collective::kAlltoall:
      case Collective::kAlltoallv:
      case Collective::kAlltoallw:
        *data = call_.recv_block(from);
        return true;
      default:
        *data = call_.send;
        return reduces(call_.what) && comm_.rank == 0;
    }
  }

  const Comm& comm_;
  const Call& call_;
  const bool near_;
};

void post(Op& op, const Flows& flows, SignatureRecord* sent, SignatureRecord* received, Gate& gate) {
  DataView data;
  for (int i = 0; i < flows.senders(); ++i) {
    const Rank from = flows.sender(i, &data);
    if (from != MPI_PROC_NULL) op.recv(from, &received[i], sizeof received[i], gate);
  }
  for (int i = 0; i < flows.receivers(); ++i) {
    const Rank to = flows.receiver(i, &data);
    if (to == MPI_PROC_NULL) continue;
    sent[i] = record_of(data);
    op.send(to, &sent[i], sizeof sent[i], gate);
  }
}

/// Compares the signatures received with those expected; fills `outcome` with the first difference.
void compare(const Comm& comm, const Call& call, CallForm form, const Flows& flows, const SignatureRecord* received,
             TypeMismatch* outcome) {
  std::memset(outcome, 0, sizeof *outcome);
  const char* const whose = comm.inter ? " of the other group" : "";
  for (int i = 0; i < flows.senders(); ++i) {
    DataView data;
    const Rank from = flows.sender(i, &data);
    if (from == MPI_PROC_NULL) continue;
    const SignatureRecord expected = record_of(data);
    if (match(received[i], expected)) continue;
    char name[64];
    name_of_call(call.what, form, name, sizeof name);
    outcome->wrong = 1;
    std::snprintf(outcome->text, sizeof outcome->text,
                  "the datatypes do not match in %s on '%.60s': rank %d%s %s %s, and rank %d %s %s", name,
                  comm.name.c_str(), from, whose, reduces(call.what) ? "combines" : "sends", received[i].words,
                  comm.rank, reduces(call.what) ? "combines" : "receives", expected.words);
    return;
  }
}

/// The first of `n` outcomes with a difference.
const TypeMismatch& first_wrong(const TypeMismatch* outcomes, int n) {
  for (int i = 0; i < n; ++i)
    if (outcomes[i].wrong != 0) return outcomes[i];
  return outcomes[0];
}

/// Makes the two groups choose the same of their two outcomes.
void settle(TypeMismatch* ours, const TypeMismatch& theirs) {
  if (theirs.wrong == 0 || (ours->wrong != 0 && std::strcmp(ours->text, theirs.text) <= 0)) return;
  *ours = theirs;
}

Status failure_of(const TypeMismatch& outcome) {
  return fail(MPI_ERR_TYPE, "coll.checked", {{"difference", outcome.text}});
}

}  // namespace

Co compare_types(Op& op, const Call& call, CallForm form) {
  const Comm& comm = op.comm()->comm;
  const Flows flows(comm, call);
  const int others = comm.remote_size;
  const bool leads = comm.rank == 0;
  constexpr MPI_Count kRecord = sizeof(SignatureRecord);
  auto* const sent = reinterpret_cast<SignatureRecord*>(op.scratch(flows.receivers() * kRecord));
  auto* const received = reinterpret_cast<SignatureRecord*>(op.scratch(flows.senders() * kRecord));
  auto* const all =
      reinterpret_cast<TypeMismatch*>(op.scratch((leads ? others : 1) * static_cast<MPI_Count>(sizeof(TypeMismatch))));
  if (!op.failure().ok()) co_return op.failure();
  Gate gate;
  Status st;
  post(op, flows, sent, received, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  TypeMismatch outcome;
  compare(comm, call, form, flows, received, &outcome);

  // To rank 0: of the other group, on an intercommunicator.
  op.send(0, &outcome, sizeof outcome, gate);
  for (Rank r = 0; leads && r < others; ++r) op.recv(r, &all[r], sizeof all[r], gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (leads) outcome = first_wrong(all, others);
  if (leads && comm.inter) {
    TypeMismatch theirs;
    op.send(0, &outcome, sizeof outcome, gate);
    op.recv(0, &theirs, sizeof theirs, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    settle(&outcome, theirs);
  }
  // And back to all ranks.
  for (Rank r = 1; leads && r < others; ++r) op.send(r, &outcome, sizeof outcome, gate);
  if (!leads) op.recv(0, &outcome, sizeof outcome, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (outcome.wrong != 0) co_return failure_of(outcome);
  co_return st;
}

}  // namespace ashlar::coll

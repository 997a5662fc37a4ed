#include "framework/coll/check_types.h"

#include <cstdio>
#include <cstring>

#include "framework/coll/comm_state.h"
#include "framework/coll/describe.h"
#include "framework/coll/op.h"
#include "framework/datatype/signature_words.h"
#include "framework/object/topology.h"

namespace ashlar::coll {
namespace {

/// What a rank says of the data that it hands to another, or expects of it. All zero: nothing.
struct Said {
  std::uint64_t hash;
  std::int64_t elements, bytes;
  char words[104];
};

struct Outcome {
  std::int32_t wrong;
  char text[508];
};

Said said_of(const DataView& data) {
  Said said;
  std::memset(&said, 0, sizeof said);
  if (data.bytes() == 0) {
    std::snprintf(said.words, sizeof said.words, "nothing");
    return said;
  }
  const datatype::Signature signature = datatype::signature_of(data);
  said.hash = signature.hash;
  said.elements = signature.elements;
  said.bytes = data.bytes();
  datatype::describe_signature(data, said.words, sizeof said.words);
  return said;
}

/// Unlike messages, a collective moves exactly what is expected.
bool match(const Said& a, const Said& b) {
  if (a.hash == b.hash && a.elements == b.elements) return true;
  return a.bytes == b.bytes && (datatype::is_packed(a.hash, a.elements) || datatype::is_packed(b.hash, b.elements));
}

/// Who hands what to whom in a call, as one rank sees it. The others are numbered: the ranks they are, or the
/// neighbours.
class Flows {
 public:
  Flows(const Comm& comm, const Call& call) : comm_(comm), call_(call), near_(among_neighbours(call.what)) {}

  int takers() const { return near_ ? call_.topology->outdegree() : comm_.remote_size; }
  int givers() const { return near_ ? call_.topology->indegree() : comm_.remote_size; }

  /// The rank of taker i and what it is handed; MPI_PROC_NULL: nothing ever.
  Rank taker(int i, DataView* data) const {
    if (near_) {
      const bool same = call_.what == Collective::kNeighborAllgather || call_.what == Collective::kNeighborAllgatherv;
      const Rank rank = call_.topology->destinations()[static_cast<std::size_t>(i)];
      if (rank != MPI_PROC_NULL) *data = same ? call_.send : call_.send_block(i);
      return rank;
    }
    return hands_over(i, data) ? i : MPI_PROC_NULL;
  }
  /// The rank of giver i and what is expected of it.
  Rank giver(int i, DataView* data) const {
    if (near_) {
      const Rank rank = call_.topology->sources()[static_cast<std::size_t>(in_order(i))];
      if (rank != MPI_PROC_NULL) *data = call_.recv_block(in_order(i));
      return rank;
    }
    return expects(i, data) ? i : MPI_PROC_NULL;
  }

 private:
  /// On a grid of one or two ranks along a dimension both neighbours there are the same rank: what it sent down comes
  /// from above. So receives are posted the other way round, as the algorithm does.
  int in_order(int i) const { return call_.topology->form() == MPI_CART ? i ^ 1 : i; }

  bool hands_over(Rank to, DataView* data) const {
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

  bool expects(Rank from, DataView* data) const {
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

void post(Op& op, const Flows& flows, Said* given, Said* told, Gate& gate) {
  DataView data;
  for (int i = 0; i < flows.givers(); ++i) {
    const Rank from = flows.giver(i, &data);
    if (from != MPI_PROC_NULL) op.recv(from, &told[i], sizeof told[i], gate);
  }
  for (int i = 0; i < flows.takers(); ++i) {
    const Rank to = flows.taker(i, &data);
    if (to == MPI_PROC_NULL) continue;
    given[i] = said_of(data);
    op.send(to, &given[i], sizeof given[i], gate);
  }
}

/// Compares what was told with what is expected; the first difference is told.
void compare(const Comm& comm, const Call& call, Form form, const Flows& flows, const Said* told, Outcome* outcome) {
  std::memset(outcome, 0, sizeof *outcome);
  const char* const whose = comm.inter ? " of the other group" : "";
  for (int i = 0; i < flows.givers(); ++i) {
    DataView data;
    const Rank from = flows.giver(i, &data);
    if (from == MPI_PROC_NULL) continue;
    const Said expected = said_of(data);
    if (match(told[i], expected)) continue;
    char name[64];
    name_of_call(call.what, form, name, sizeof name);
    outcome->wrong = 1;
    std::snprintf(outcome->text, sizeof outcome->text,
                  "the datatypes do not match in %s on '%.60s': rank %d%s %s %s, and rank %d %s %s", name,
                  comm.name.c_str(), from, whose, reduces(call.what) ? "combines" : "sends", told[i].words, comm.rank,
                  reduces(call.what) ? "combines" : "receives", expected.words);
    return;
  }
}

/// The outcome that counts of `n`: the first that tells of a difference.
const Outcome& first_wrong(const Outcome* outcomes, int n) {
  for (int i = 0; i < n; ++i)
    if (outcomes[i].wrong != 0) return outcomes[i];
  return outcomes[0];
}

/// Of the two groups' outcomes the same one in both.
void settle(Outcome* ours, const Outcome& theirs) {
  if (theirs.wrong == 0 || (ours->wrong != 0 && std::strcmp(ours->text, theirs.text) <= 0)) return;
  *ours = theirs;
}

}  // namespace

Co compare_types(Op& op, const Call& call, Form form) {
  const Comm& comm = op.comm()->comm;
  const Flows flows(comm, call);
  const int others = comm.remote_size;
  const bool leads = comm.rank == 0;
  auto* const given = reinterpret_cast<Said*>(op.scratch(flows.takers() * static_cast<MPI_Count>(sizeof(Said))));
  auto* const told = reinterpret_cast<Said*>(op.scratch(flows.givers() * static_cast<MPI_Count>(sizeof(Said))));
  auto* const all =
      reinterpret_cast<Outcome*>(op.scratch((leads ? others : 1) * static_cast<MPI_Count>(sizeof(Outcome))));
  if (!op.failure().ok()) co_return op.failure();
  Gate gate;
  Status st;
  post(op, flows, given, told, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  Outcome outcome;
  compare(comm, call, form, flows, told, &outcome);

  // To rank 0: of the other group, on an intercommunicator.
  op.send(0, &outcome, sizeof outcome, gate);
  for (Rank r = 0; leads && r < others; ++r) op.recv(r, &all[r], sizeof all[r], gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (leads) outcome = first_wrong(all, others);
  if (leads && comm.inter) {
    Outcome theirs;
    op.send(0, &outcome, sizeof outcome, gate);
    op.recv(0, &theirs, sizeof theirs, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    settle(&outcome, theirs);
  }
  // And back to everyone.
  for (Rank r = 1; leads && r < others; ++r) op.send(r, &outcome, sizeof outcome, gate);
  if (!leads) op.recv(0, &outcome, sizeof outcome, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (outcome.wrong != 0) co_return Status::fail(MPI_ERR_TYPE, "%s", outcome.text);
  co_return st;
}

}  // namespace ashlar::coll

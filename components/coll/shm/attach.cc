#include "components/coll/shm/attach.h"

#include <unistd.h>

#include "components/coll/shm/exchange_table.h"
#include "components/coll/shm/module.h"
#include "components/coll/shm/peer_memory.h"
#include "components/coll/shm/segment/waits.h"
#include "framework/base/log.h"

namespace ashlar::coll::shm {
namespace {

/// Every rank reads every flag only where all ranks run at once; and with more ranks than this, one flag for all is
/// cheaper to poll.
constexpr int kFlatRanks = 8;

/// Whether one member, or all of them, have attached.
struct Attached {
  std::int64_t yes;
};

bool oversubscribed(const Op& op) { return op.comm()->engine.job.oversubscribed; }

/// What the other ranks read of this one once they know that all have attached. The messages order it.
void store_state(ShmComm& comm) {
  comm.member.layout = comm.mapping.layout();
  comm.probe = comm.member.layout.header().nonce;
  RankState& state = comm.member.state();
  state.pid = getpid();
  state.probe = address_of(&comm.probe);
  // Collectives that have failed before, without a segment.
  state.done.store(comm.member.turn - 1, std::memory_order_relaxed);
}

/// Whether the edges of this rank's topology fit into its bounce buffer. Without a topology there are none.
bool edges_fit(const Op& op) {
  const Topology* const topology = op.comm()->comm.topology.get();
  if (topology == nullptr) return true;
  return table_bytes(topology->destinations().size(), topology->sources().size()) <=
         module().buffer_bytes(static_cast<std::uint32_t>(op.size()));
}

Co attach_root(Op& op, ShmComm& comm, Attached& all) {
  Gate gate;
  Status st;
  const int size = op.size();
  SegmentHandle handle{};
  const Status made =
      comm.mapping.make(static_cast<std::uint32_t>(size), module().buffer_bytes(static_cast<std::uint32_t>(size)),
                        /*flat=*/size <= kFlatRanks && !oversubscribed(op), &handle);
  if (!made.ok()) ASHLAR_LOG(info, "coll.shm", "%s", made.text());
  if (made.ok()) store_state(comm);
  auto* const answers = reinterpret_cast<Attached*>(op.scratch(size * static_cast<MPI_Count>(sizeof(Attached))));
  for (int r = 1; r < size; ++r) {
    op.send(r, &handle, sizeof handle, gate);
    op.recv(r, &answers[r], sizeof(Attached), gate);
  }
  st = co_await gate;
  if (!st.ok()) co_return st;
  all.yes = made.ok() ? 1 : 0;
  for (int r = 1; r < size; ++r) {
    if (answers[r].yes == 0) all.yes = 0;
  }
  for (int r = 1; r < size; ++r) op.send(r, &all, sizeof all, gate);
  st = co_await gate;
  co_return st;
}

Co attach_leaf(Op& op, ShmComm& comm, Attached& all) {
  Gate gate;
  Status st;
  SegmentHandle handle{};
  op.recv(0, &handle, sizeof handle, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  Attached mine{0};
  if (handle.pid != 0) {
    const Status attached = comm.mapping.attach(handle);
    mine.yes = attached.ok() ? 1 : 0;
    if (!attached.ok()) ASHLAR_LOG(info, "coll.shm", "%s", attached.text());
    if (attached.ok()) store_state(comm);
  }
  op.send(0, &mine, sizeof mine, gate);
  op.recv(0, &all, sizeof all, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace

Co attach(Op& op, ShmComm& comm) {
  module().record_buffers(static_cast<std::uint32_t>(op.size()));
  Gate gate;
  Status st;
  Attached all{0};
  const Co attaching = op.rank() == 0 ? attach_root(op, comm, all) : attach_leaf(op, comm, all);
  op.join(attaching, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  comm.mapping.all_attached();
  comm.state = all.yes != 0 ? ShmComm::State::kAttached : ShmComm::State::kRefused;
  if (comm.state == ShmComm::State::kRefused) co_return st;
  comm.member.flat = comm.member.layout.header().flat != 0;
  comm.choices = Choices::of(module().config.choices, comm.member);
  co_return st;
}

Co prove(Op& op, ShmComm& comm, const Ticket& ticket) {
  Status st;
  std::byte* const mine = ticket.line(ticket.me()).data;
  mine[0] = std::byte{reaches_all_ranks(op, ticket)};
  mine[1] = std::byte{edges_fit(op)};
  publish_and_wake(ticket);
  FlagWait wait = FlagWait::contributions(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  bool all_reach = true, all_fit = true;
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    all_reach = all_reach && ticket.line(r).data[0] != std::byte{0};
    all_fit = all_fit && ticket.line(r).data[1] != std::byte{0};
  }
  comm.edges_fit = all_fit;
  comm.single_copy = all_reach ? ShmComm::SingleCopy::kProved : ShmComm::SingleCopy::kRefused;
  done(ticket);
  co_return st;
}

}  // namespace ashlar::coll::shm

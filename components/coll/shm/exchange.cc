#include "components/coll/shm/exchange.h"

#include <mpi.h>

#include "components/coll/shm/module.h"
#include "components/coll/shm/peer_memory.h"
#include "framework/base/failure.h"

namespace ashlar::coll::shm {
namespace {

MPI_Count to_multiple(MPI_Count bytes, MPI_Count of) { return (bytes + of - 1) / of * of; }

}  // namespace

std::atomic<std::uint64_t>& Exchange::copies(const SegmentLayout& layout, std::uint64_t number, Rank r) {
  FlagLine& line = layout.contribution(number, static_cast<std::uint32_t>(r));
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(line.data);
}

Exchange::Exchange(Op& op, const Call& call, const Ticket& ticket, const Choices& choices)
    : op_(op),
      call_(call),
      ticket_(ticket),
      choices_(choices),
      edges_(op, call),
      same_for_all_(call.what == Collective::kAllgather || call.what == Collective::kAllgatherv ||
                    call.what == Collective::kNeighborAllgather || call.what == Collective::kNeighborAllgatherv),
      buffer_bytes_(static_cast<MPI_Count>(module().buffer_bytes(static_cast<std::uint32_t>(op.size())))),
      small_block_(static_cast<MPI_Count>(module().config.small_block)) {}

DataView Exchange::outgoing(int block) const {
  if (!same_for_all_) return call_.in_place ? call_.recv_block(block) : call_.send_block(block);
  return call_.in_place ? call_.recv_block(op_.rank()) : call_.send;
}

bool Exchange::begins_early() const {
  return amount_ > (same_for_all_ ? 2 * choices_.prefetch_from : choices_.prefetch_from);
}

// --- this rank's table ----------------------------------------------------------------------------------------------

/// Where a block lies for its receiver (SendRow::where). It is copied into the bounce buffer if that has room for it.
std::uint64_t Exchange::store_block(const DataView& block, MPI_Count* used) {
  const MPI_Count bytes = block.bytes();
  const auto piece = static_cast<MPI_Count>(module().piece_bytes(static_cast<std::uint32_t>(op_.size())));
  const MPI_Count most = same_for_all_ ? piece : small_block_;
  if (bytes <= most && *used + bytes <= buffer_bytes_) {
    const MPI_Count at = *used;
    op_.copy(block, Op::view(ticket_.buffer(ticket_.me()) + at, bytes));
    *used += to_multiple(bytes, 16);
    return static_cast<std::uint64_t>(at);
  }
  if (!call_.in_place || same_for_all_) return address_of(op_.packed_in(block).bytes);
  // In place, what arrives would overwrite what leaves.
  std::byte* const copy = op_.scratch(bytes);
  if (copy != nullptr) op_.copy(block, Op::view(copy, bytes));
  return address_of(copy);
}

void Exchange::write_send_rows(const Table& mine) {
  const auto bytes_of_table =
      static_cast<MPI_Count>(table_bytes(static_cast<std::size_t>(mine.sent), static_cast<std::size_t>(mine.received)));
  MPI_Count used = to_multiple(bytes_of_table, MPI_Count{kCacheLine});
  std::uint64_t shared = 0;
  if (same_for_all_ && mine.sent > 0) shared = store_block(outgoing(0), &used);
  for (int i = 0; i < mine.sent; ++i) {
    SendRow& row = mine.out(i);
    row.to = edges_.receiver(i);
    row.claimed.store(0, std::memory_order_relaxed);
    row.where = row.bytes = 0;
    if (row.to == MPI_PROC_NULL || row.to == op_.rank()) continue;
    const DataView block = outgoing(i);
    row.bytes = static_cast<std::uint64_t>(block.bytes());
    row.where = same_for_all_ ? shared : store_block(block, &used);
    if (!in_buffer(row.where)) amount_ += block.bytes();
  }
}

void Exchange::write_recv_rows(const Table& mine) {
  for (int i = 0; i < mine.received; ++i) {
    RecvRow& row = mine.in(i);
    row.from = edges_.sender(i);
    row.address = row.bytes = 0;
    if (row.from == MPI_PROC_NULL || row.from == op_.rank()) continue;
    const DataView block = call_.recv_block(i);
    row.bytes = static_cast<std::uint64_t>(block.bytes());
    if (block.bytes() > small_block_) amount_ += block.bytes();
    if (block.dense() && !comes_twice(i)) row.address = address_of(block.data);
  }
}

void Exchange::write_table() {
  copies(ticket_.layout(), ticket_.number + 1, op_.rank()).store(0, std::memory_order_relaxed);
  const Table mine = Table::begin_own(ticket_, edges_);
  write_send_rows(mine);
  write_recv_rows(mine);
  if (op_.failure().ok() && make_lists()) return;
  // Without memory this rank takes no part, and the others learn from its rows that it failed.
  mine.set_unable();
  amount_ = 0;
  to_see_ = 0;
}

/// Memory for match_new_edges(). Where every block goes through bounce buffers among all, that is not called.
bool Exchange::make_lists() {
  if (!edges_.of_topology() && amount_ == 0) {
    to_see_ = op_.size() - 1;
    return true;
  }
  const int sent = edges_.sent(), received = edges_.received();
  sent_ = reinterpret_cast<Sent*>(op_.scratch(sent * MPI_Count{sizeof(Sent)}));
  received_ = reinterpret_cast<Received*>(op_.scratch(received * MPI_Count{sizeof(Received)}));
  seen_ = reinterpret_cast<bool*>(op_.scratch(sent + received));
  if (!op_.failure().ok()) return false;
  for (int i = 0; i < sent + received; ++i) {
    const Rank other = i < sent ? edges_.receiver(i) : edges_.sender(i - sent);
    seen_[i] = other == MPI_PROC_NULL || other == op_.rank();
    if (!seen_[i]) ++to_see_;
  }
  return true;
}

bool Exchange::comes_twice(int block) const {
  if (!choices_.read_once || !edges_.of_topology() || !same_for_all_ || edges_.received() > kMostEdgesSearched)
    return false;
  for (int i = 0; i < edges_.received(); ++i) {
    if (i != block && edges_.sender(i) == edges_.sender(block)) return true;
  }
  return false;
}

// --- the others' tables ---------------------------------------------------------------------------------------------

/// Whether an edge is not seen yet and leads to a rank that has published by now.
bool Exchange::is_new(int edge, Rank other) const {
  if (seen_[edge]) return false;
  if (all_published_) return true;
  const FlagLine& line = ticket_.line(static_cast<std::uint32_t>(other));
  return line.flag.load(std::memory_order_acquire) == ticket_.flag();
}

bool Exchange::any_new() const {
  if (all_published_) return true;
  for (int i = 0; i < edges_.sent(); ++i) {
    if (is_new(i, edges_.receiver(i))) return true;
  }
  for (int i = 0; i < edges_.received(); ++i) {
    if (is_new(edges_.sent() + i, edges_.sender(i))) return true;
  }
  return false;
}

/// Finds the rows of both ends of the new edges. Of several edges between two ranks the n-th outgoing one belongs to
/// the n-th incoming one.
void Exchange::match_new_edges() {
  const Table mine = Table::of(ticket_, edges_, op_.rank());
  const bool of_topology = edges_.of_topology();
  for (int step = 0; step < mine.sent; ++step) {
    const int i = of_topology ? step : (op_.rank() + step) % mine.sent;
    const Rank to = edges_.receiver(i);
    if (!is_new(i, to)) continue;
    seen_[i] = true;
    --to_see_;
    if (mine.out(i).bytes == 0 || in_buffer(mine.out(i).where)) continue;  // the receiver copies it
    const Table theirs = Table::of(ticket_, edges_, to);
    const int at = of_topology ? theirs.nth_from(edges_, op_.rank(), edges_.earlier_to(i)) : op_.rank();
    if (at >= 0 && theirs.in(at).bytes != kUnable) {
      sent_[sent_count_++] = Sent{.mine = &mine.out(i), .theirs = &theirs.in(at)};
    } else {
      no_such_edge(to, at >= 0);
    }
  }
  for (int step = 0; step < mine.received; ++step) {
    const int i = of_topology ? edges_.in_order(step) : (op_.rank() - step + mine.received) % mine.received;
    const Rank from = edges_.sender(i);
    if (!is_new(mine.sent + i, from)) continue;
    seen_[mine.sent + i] = true;
    --to_see_;
    const Table theirs = Table::of(ticket_, edges_, from);
    const int at = of_topology ? theirs.nth_to(op_.rank(), edges_.earlier_from(step)) : op_.rank();
    if (at >= 0 && theirs.out(at).bytes != kUnable) {
      received_[received_count_++] = Received{.from = from, .block = i, .theirs = &theirs.out(at)};
    } else {
      no_such_edge(from, at >= 0);
    }
  }
}

void Exchange::no_such_edge(Rank other, bool unable) {
  wrong_ = unable ? other_rank_failed() : fail(MPI_ERR_TOPOLOGY, "coll.other_edges", {{"peer", other}});
}

void Exchange::finish() {
  if (!wrong_.ok()) op_.fail(wrong_);
}

}  // namespace ashlar::coll::shm

#include "components/coll/shm/exchange.h"
#include "components/coll/shm/peer_memory.h"
#include "components/coll/shm/prefetch_copy.h"

// A claim needs no order: it decides who copies. That the copy is over is what count_copy() publishes.
namespace ashlar::coll::shm {
namespace {

/// What is written to every receiver while it is in a core's cache.
constexpr MPI_Count kChunk = 256 * 1024;

const std::byte* memory_at(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }
MPI_Count chunk_at(MPI_Count at, MPI_Count bytes) { return bytes - at < kChunk ? bytes - at : kChunk; }

}  // namespace

// --- blocks that stay on this rank ----------------------------------------------------------------------------------

void Exchange::copy_dense(const void* from, void* to, MPI_Count bytes) {
  if (amount_ < choices_.prefetch_from) return op_.copy_bytes(from, to, bytes);
  if (op_.failure().ok()) prefetch_copy(to, from, static_cast<std::size_t>(bytes));
}

void Exchange::copy_within(const DataView& from, const DataView& to) {
  if (from.bytes() != to.bytes()) {
    wrong_ = sizes_differ(op_.rank(), from.bytes(), op_.rank(), to.bytes());
    return;
  }
  if (!from.dense() || !to.dense()) return op_.copy(from, to);
  copy_dense(from.data, to.data, from.bytes());
}

void Exchange::copy_own() {
  if (edges_.of_topology())
    copy_own_edges();
  else if (!call_.in_place)
    copy_within(outgoing(op_.rank()), call_.recv_block(op_.rank()));
}

/// Edges from this rank to itself: the first that leaves is the first that arrives. A long block that goes along
/// several of them is copied chunk by chunk, so that it stays in the cache.
void Exchange::copy_own_edges() {
  const bool in_chunks = same_for_all_ && call_.send.dense() && call_.send.bytes() > kChunk;
  MPI_Count at = 0;
  do {
    for (int i = 0, block = 0; i < edges_.received(); ++i) {
      if (edges_.sender(edges_.in_order(i)) != op_.rank()) continue;
      while (block < edges_.sent() && edges_.receiver(block) != op_.rank()) ++block;
      if (block == edges_.sent()) break;
      const DataView to = call_.recv_block(edges_.in_order(i)), from = outgoing(block++);
      if (!in_chunks || !to.dense() || to.bytes() != from.bytes()) {
        if (at == 0) copy_within(from, to);
      } else {
        copy_dense(static_cast<std::byte*>(from.data) + at, static_cast<std::byte*>(to.data) + at,
                   chunk_at(at, from.bytes()));
      }
    }
    at += kChunk;
  } while (in_chunks && at < call_.send.bytes());
}

// --- blocks between ranks -------------------------------------------------------------------------------------------

void Exchange::copy_available() {
  if (seen_ == nullptr) return read_all();
  const int first_sent = sent_count_, first_received = received_count_;
  match_new_edges();
  if (same_for_all_) write_to_all(first_sent);
  for (int step = 0; first_sent + step < sent_count_ || first_received + step < received_count_; ++step) {
    if (!same_for_all_ && first_sent + step < sent_count_) write_one(sent_[first_sent + step]);
    const int i = first_received + step;
    if (i >= received_count_) continue;
    read_once(i);
    read(received_[i]);
  }
}

/// Where nothing is to be written to other ranks' buffers: straight from the rows of the others.
void Exchange::read_all() {
  for (int step = 1; step < op_.size(); ++step) {
    const Rank from = (op_.rank() - step + op_.size()) % op_.size();
    SendRow& row = Table::of(ticket_, edges_, from).out(op_.rank());
    if (row.bytes == kUnable) {
      no_such_edge(from, true);
    } else {
      read(Received{.from = from, .block = from, .theirs = &row});
    }
  }
  to_see_ = 0;
}

bool Exchange::claim(SendRow& row) {
  return row.claimed.load(std::memory_order_relaxed) == 0 && row.claimed.exchange(1, std::memory_order_relaxed) == 0;
}

/// At both ends, once for each block that does not go through a bounce buffer.
void Exchange::count_copy(Rank from, Rank to) {
  const std::uint64_t one = 1 + (op_.failure().ok() ? 0 : kFailed);
  const Rank other = from == op_.rank() ? to : from;
  const std::uint64_t number = ticket_.number + 1;
  copies(ticket_.layout(), number, op_.rank()).fetch_add(one, std::memory_order_acq_rel);
  copies(ticket_.layout(), number, other).fetch_add(one, std::memory_order_acq_rel);
  wake_sleeper(ticket_, other);
}

/// Expects a copy of the block; whether this rank is to make it.
bool Exchange::begin_write(const Sent& edge) {
  ++expected_;
  return edge.theirs->address != 0 && edge.theirs->bytes == edge.mine->bytes && claim(*edge.mine);
}

void Exchange::write_one(const Sent& edge) {
  if (!begin_write(edge)) return;
  const SendRow& mine = *edge.mine;
  write_to(op_, ticket_, mine.to, edge.theirs->address, memory_at(mine.where), static_cast<MPI_Count>(mine.bytes));
  count_copy(op_.rank(), mine.to);
}

/// The block for every rank, to those that have not read it, chunk by chunk while it is in the cache.
void Exchange::write_to_all(int first) {
  Sent* const takers = sent_ + first;
  int count = 0;
  for (int i = first; i < sent_count_; ++i) {
    if (begin_write(sent_[i])) takers[count++] = sent_[i];
  }
  if (count == 0) return;
  const auto bytes = static_cast<MPI_Count>(takers[0].mine->bytes);
  const MPI_Count chunk = count > 1 ? kChunk : bytes;  // for one taker further system calls would gain nothing
  for (MPI_Count at = 0; at < bytes; at += chunk) {
    const MPI_Count n = bytes - at < chunk ? bytes - at : chunk;
    for (int i = 0; i < count; ++i) {
      write_to(op_, ticket_, takers[i].mine->to, takers[i].theirs->address + static_cast<std::uint64_t>(at),
               memory_at(takers[i].mine->where) + at, n);
    }
  }
  for (int i = 0; i < count; ++i) count_copy(op_.rank(), takers[i].mine->to);
}

/// Whether a block is as long as its receiver expects.
bool Exchange::fits(const Received& edge, const DataView& block) {
  if (static_cast<MPI_Count>(edge.theirs->bytes) == block.bytes()) return true;
  wrong_ = sizes_differ(edge.from, static_cast<MPI_Count>(edge.theirs->bytes), op_.rank(), block.bytes());
  return false;
}

void Exchange::read(const Received& edge) {
  const DataView block = call_.recv_block(edge.block);
  const bool fit = fits(edge, block);
  SendRow& row = *edge.theirs;
  if (row.bytes == 0) return;
  if (in_buffer(row.where)) {
    if (row.where == 0) return op_.fail(other_rank_failed());  // the sender had no memory for it
    if (fit)
      op_.copy(Op::view(ticket_.buffer(static_cast<std::uint32_t>(edge.from)) + row.where, block.bytes()), block);
    return;
  }
  ++expected_;
  if (!claim(row)) return;
  if (fit) read_into(op_, ticket_, edge.from, row.where, block);
  count_copy(edge.from, op_.rank());
}

/// Choices::read_once: reads a block that comes along several edges once, and copies it on while it is in the cache.
/// read() then finds all of them claimed.
void Exchange::read_once(int first) {
  const Received& edge = received_[first];
  const DataView block = call_.recv_block(edge.block);
  const bool wanted = edge.theirs->bytes != 0 && !in_buffer(edge.theirs->where) && block.dense() &&
                      static_cast<MPI_Count>(edge.theirs->bytes) == block.bytes() && comes_twice(edge.block);
  if (!wanted || !claim(*edge.theirs)) return;
  std::byte* duplicates[kMostEdgesSearched];  // further receive buffers of the block
  int count = 0;
  for (int i = first + 1; i < received_count_; ++i) {
    const DataView other = call_.recv_block(received_[i].block);
    if (received_[i].from != edge.from || !other.dense() || other.bytes() != block.bytes() ||
        !claim(*received_[i].theirs))
      continue;
    duplicates[count++] = static_cast<std::byte*>(other.data);
  }
  auto* const data = static_cast<std::byte*>(block.data);
  for (MPI_Count at = 0; at < block.bytes(); at += kChunk) {
    const MPI_Count n = chunk_at(at, block.bytes());
    read_from(op_, ticket_, edge.from, edge.theirs->where + static_cast<std::uint64_t>(at), data + at, n);
    for (int i = 0; i < count; ++i) copy_dense(data + at, duplicates[i] + at, n);
  }
  for (int i = 0; i <= count; ++i) count_copy(edge.from, op_.rank());
}

}  // namespace ashlar::coll::shm

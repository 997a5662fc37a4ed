#include "components/coll/shm/exchange.h"

#include <mpi.h>

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/far_copy.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// What is written to everyone while it is in a core's cache.
constexpr MPI_Count kChunk = 256 * 1024;
/// With more edges than that, nobody looks whether several come from the same rank.
constexpr int kTwins = 16;

/// Begins a rank's place; its rows follow.
struct alignas(16) Head {
  std::int32_t sent, got;
};

MPI_Count to_line(MPI_Count bytes) { return (bytes + 63) / 64 * 64; }

std::byte* place_of(const Visit& visit, Rank r) {
  return visit.layout().large_contribution(visit.number, static_cast<std::uint32_t>(r));
}
const std::byte* memory_at(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

}  // namespace

/// A rank's rows. Those of edges to nobody and to itself are there as well, so that rows are found by their number.
struct Exchange::Table {
  std::byte* rows;
  int sent, got;

  static Table of(const Visit& visit, Rank r) {
    std::byte* const place = place_of(visit, r);
    Head head;
    std::memcpy(&head, place, sizeof head);
    return Table{place + sizeof head, head.sent, head.got};
  }
  Outgoing& out(int i) const { return reinterpret_cast<Outgoing*>(rows)[i]; }
  Incoming& in(int i) const {
    return reinterpret_cast<Incoming*>(rows + static_cast<std::size_t>(sent) * sizeof(Outgoing))[i];
  }
};

std::size_t table_bytes(std::size_t sent, std::size_t got) {
  return sizeof(Head) + sent * sizeof(Outgoing) + got * sizeof(Incoming);
}

std::atomic<std::uint64_t>& Exchange::copies(const Visit& visit, std::uint64_t number, Rank r) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(
      visit.layout().contribution(number, static_cast<std::uint32_t>(r)).data);
}

CopiesWait::CopiesWait(const Op& op, const Visit& of, std::uint64_t all)
    : VisitWait(op, of), count(&Exchange::copies(of, of.number, op.rank())), expected(all) {
  holds = &CopiesWait::look;
}

bool CopiesWait::look(Condition& self) {
  auto& wait = static_cast<CopiesWait&>(self);
  return wait.seen() || wait.parted_elsewhere();
}

Exchange::Exchange(Op& op, const Call& call, const Visit& visit)
    : op_(op),
      call_(call),
      visit_(visit),
      same_for_all_(call.what == Collective::kAllgather || call.what == Collective::kAllgatherv ||
                    call.what == Collective::kNeighborAllgather || call.what == Collective::kNeighborAllgatherv),
      room_(static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())))),
      small_(static_cast<MPI_Count>(configuration().small_block)),
      sent_(reinterpret_cast<Sent*>(op.scratch(sent_blocks() * MPI_Count{sizeof(Sent)}))),
      got_(reinterpret_cast<Got*>(op.scratch(got_blocks() * MPI_Count{sizeof(Got)}))) {}

int Exchange::sent_blocks() const { return neighbours() ? call_.topology->outdegree() : op_.size(); }
int Exchange::got_blocks() const { return neighbours() ? call_.topology->indegree() : op_.size(); }

/// On a grid of one or two ranks along a dimension both neighbours there are the same rank: what it sent down the
/// dimension comes from above.
int Exchange::in_order(int i) const { return neighbours() && call_.topology->form() == MPI_CART ? i ^ 1 : i; }

DataView Exchange::outgoing(int block) const {
  if (!same_for_all_) return call_.in_place ? call_.recv_block(block) : call_.send_block(block);
  return call_.in_place ? call_.recv_block(op_.rank()) : call_.send;
}

std::uint64_t Exchange::put(const DataView& block, MPI_Count* used) {
  const MPI_Count bytes = block.bytes();
  if ((bytes <= small_ || same_for_all_) && *used + bytes <= room_) {
    const MPI_Count at = *used;
    op_.copy(block, Op::view(place_of(visit_, op_.rank()) + at, bytes));
    *used += (bytes + 15) / 16 * 16;
    return static_cast<std::uint64_t>(at);
  }
  if (!call_.in_place || same_for_all_) return address_of(op_.packed_in(block).bytes);
  // What leaves would be overwritten by what arrives.
  std::byte* const copy = op_.scratch(bytes);
  if (copy != nullptr) op_.copy(block, Op::view(copy, bytes));
  return address_of(copy);
}

void Exchange::offer() {
  copies(visit_, visit_.number + 1, op_.rank()).store(0, std::memory_order_relaxed);
  std::byte* const place = place_of(visit_, op_.rank());
  const int sent = sent_blocks(), got = got_blocks();
  // Without memory nobody gets anything from us, nor we from others; they hear that it went wrong.
  const bool able = op_.failure().ok();
  const Head head{able ? sent : 0, able ? got : 0};
  std::memcpy(place, &head, sizeof head);
  if (!able) return;
  const Table mine{place + sizeof head, sent, got};
  MPI_Count used = to_line(static_cast<MPI_Count>(table_bytes(index(sent), index(got))));
  std::uint64_t shared = 0;
  if (same_for_all_ && sent > 0) shared = put(outgoing(0), &used);
  for (int i = 0; i < sent; ++i) {
    Outgoing& row = mine.out(i);
    row.to = receiver(i);
    row.taken.store(0, std::memory_order_relaxed);
    row.where = row.bytes = 0;
    if (row.to == MPI_PROC_NULL || row.to == op_.rank()) continue;
    const DataView block = outgoing(i);
    row.bytes = static_cast<std::uint64_t>(block.bytes());
    row.where = same_for_all_ ? shared : put(block, &used);
    if (!lies_in_place(row.where)) amount_ += block.bytes();
  }
  for (int i = 0; i < got; ++i) {
    Incoming& row = mine.in(i);
    row.from = sender(i);
    row.address = row.bytes = 0;
    if (row.from == MPI_PROC_NULL || row.from == op_.rank()) continue;
    const DataView block = call_.recv_block(i);
    row.bytes = static_cast<std::uint64_t>(block.bytes());
    if (block.bytes() > small_) amount_ += block.bytes();
    if (block.dense() && !has_twin(i)) row.address = address_of(block.data);
  }
}

/// Whether the same block comes along another edge as well, from the same rank: then this rank reads it once, and
/// copies from one place to the other itself.
bool Exchange::has_twin(int block) const {
  if (!neighbours() || !same_for_all_ || got_blocks() > kTwins) return false;
  for (int i = 0; i < got_blocks(); ++i) {
    if (i != block && sender(i) == sender(block)) return true;
  }
  return false;
}

void Exchange::copy_dense(const void* from, void* to, MPI_Count bytes) {
  if (amount_ < static_cast<MPI_Count>(configuration().far_copy)) return op_.copy_bytes(from, to, bytes);
  if (op_.failure().ok()) far_copy(to, from, static_cast<std::size_t>(bytes));
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
  if (!neighbours()) {
    if (!call_.in_place) copy_within(outgoing(op_.rank()), call_.recv_block(op_.rank()));
    return;
  }
  // Of a block for everyone a piece at a time, which stays in the cache.
  const bool in_pieces = same_for_all_ && call_.send.dense() && call_.send.bytes() > kChunk;
  MPI_Count at = 0;
  do {
    // The first edge that leaves for this rank is the first one that arrives from it.
    for (int i = 0, block = 0; i < got_blocks(); ++i) {
      if (sender(in_order(i)) != op_.rank()) continue;
      while (block < sent_blocks() && receiver(block) != op_.rank()) ++block;
      if (block == sent_blocks()) break;
      const DataView to = call_.recv_block(in_order(i)), from = outgoing(block++);
      if (!in_pieces || !to.dense() || to.bytes() != from.bytes()) {
        if (at == 0) copy_within(from, to);
      } else {
        copy_dense(static_cast<std::byte*>(from.data) + at, static_cast<std::byte*>(to.data) + at,
                   from.bytes() - at < kChunk ? from.bytes() - at : kChunk);
      }
    }
    at += kChunk;
  } while (in_pieces && at < call_.send.bytes());
}

/// Finds both ends' rows of every edge to another rank.
void Exchange::match() {
  const Table mine = Table::of(visit_, op_.rank());
  for (int step = 0; step < mine.sent; ++step) {
    const int i = neighbours() ? step : (op_.rank() + step) % mine.sent;
    const Rank to = receiver(i);
    if (to == MPI_PROC_NULL || to == op_.rank()) continue;
    const Table theirs = Table::of(visit_, to);
    const int at = neighbours() ? nth_from(theirs, op_.rank(), earlier_to(i)) : op_.rank();
    if (at >= 0 && at < theirs.got) {
      sent_[sent_count_++] = Sent{&mine.out(i), &theirs.in(at)};
    } else {
      no_such_edge(to, theirs.got);
    }
  }
  for (int step = 0; step < mine.got; ++step) {
    const int i = neighbours() ? in_order(step) : (op_.rank() - step + mine.got) % mine.got;
    const Rank from = sender(i);
    if (from == MPI_PROC_NULL || from == op_.rank()) continue;
    const Table theirs = Table::of(visit_, from);
    const int at = neighbours() ? nth_to(theirs, op_.rank(), earlier_from(step)) : op_.rank();
    if (at >= 0 && at < theirs.sent) {
      got_[got_count_++] = Got{from, i, &theirs.out(at)};
    } else {
      no_such_edge(from, theirs.sent);
    }
  }
}

void Exchange::no_such_edge(Rank other, int told) {
  wrong_ = told == 0 ? other_rank_failed()
                     : Status::fail(MPI_ERR_TOPOLOGY, "rank %d does not know of every edge between it and rank %d",
                                    other, op_.rank());
}

int Exchange::earlier_to(int block) const {
  int count = 0;
  for (int i = 0; i < block; ++i) count += receiver(i) == receiver(block) ? 1 : 0;
  return count;
}
int Exchange::earlier_from(int step) const {
  int count = 0;
  for (int i = 0; i < step; ++i) count += sender(in_order(i)) == sender(in_order(step)) ? 1 : 0;
  return count;
}
int Exchange::nth_to(const Table& table, Rank to, int n) {
  for (int i = 0; i < table.sent; ++i) {
    if (table.out(i).to == to && n-- == 0) return i;
  }
  return -1;
}
int Exchange::nth_from(const Table& table, Rank from, int n) const {
  for (int i = 0; i < table.got; ++i) {
    const int at = in_order(i);
    if (at < table.got && table.in(at).from == from && n-- == 0) return at;
  }
  return -1;
}

void Exchange::copied(Rank from, Rank to) {
  const std::uint64_t one = 1 + (op_.failure().ok() ? 0 : kFailed);
  const Rank other = from == op_.rank() ? to : from;
  copies(visit_, visit_.number + 1, op_.rank()).fetch_add(one, std::memory_order_acq_rel);
  copies(visit_, visit_.number + 1, other).fetch_add(one, std::memory_order_acq_rel);
  wake_sleeper(op_, visit_, other);
}

void Exchange::move() {
  match();
  hand_out();
  for (int i = 0; i < got_count_; ++i) {
    fetch_twins(i);
    fetch(got_[i]);
  }
}

bool Exchange::take(Outgoing& row) {
  return row.taken.load(std::memory_order_relaxed) == 0 && row.taken.exchange(1, std::memory_order_relaxed) == 0;
}

void Exchange::hand_out() {
  auto* const takers = reinterpret_cast<Sent**>(op_.scratch(sent_count_ * MPI_Count{sizeof(Sent*)}));
  int count = 0;
  for (int i = 0; i < sent_count_; ++i) {
    Sent& edge = sent_[i];
    if (edge.mine->bytes == 0 || lies_in_place(edge.mine->where)) continue;
    ++expected_;
    if (takers == nullptr || edge.theirs->address == 0) continue;
    if (edge.theirs->bytes != edge.mine->bytes || !take(*edge.mine)) continue;
    if (same_for_all_) {
      takers[count++] = &edge;
    } else {
      write_to(op_, visit_, edge.mine->to, edge.theirs->address, memory_at(edge.mine->where),
               static_cast<MPI_Count>(edge.mine->bytes));
      copied(op_.rank(), edge.mine->to);
    }
  }
  if (count > 0) hand_to_all(takers, count);
}

void Exchange::hand_to_all(Sent* const* takers, int count) {
  const auto bytes = static_cast<MPI_Count>(takers[0]->mine->bytes);
  const MPI_Count chunk = count > 1 ? kChunk : bytes;  // for one, every call of the system would only cost
  for (MPI_Count at = 0; at < bytes; at += chunk) {
    const MPI_Count n = bytes - at < chunk ? bytes - at : chunk;
    for (int i = 0; i < count; ++i) {
      const Sent& edge = *takers[i];
      write_to(op_, visit_, edge.mine->to, edge.theirs->address + static_cast<std::uint64_t>(at),
               memory_at(edge.mine->where) + at, n);
    }
  }
  for (int i = 0; i < count; ++i) copied(op_.rank(), takers[i]->mine->to);
}

/// Whether a block is as long as its receiver expects.
bool Exchange::fits(const Got& edge, const DataView& block) {
  if (static_cast<MPI_Count>(edge.theirs->bytes) == block.bytes()) return true;
  wrong_ = sizes_differ(edge.from, static_cast<MPI_Count>(edge.theirs->bytes), op_.rank(), block.bytes());
  return false;
}

void Exchange::fetch(const Got& edge) {
  const DataView block = call_.recv_block(edge.block);
  const bool fit = fits(edge, block);
  Outgoing& row = *edge.theirs;
  if (row.bytes == 0) return;
  if (lies_in_place(row.where)) {
    if (row.where == 0) return op_.fail(other_rank_failed());  // it had no memory for it
    if (fit) op_.copy(Op::view(place_of(visit_, edge.from) + row.where, block.bytes()), block);
    return;
  }
  ++expected_;
  if (!take(row)) return;
  if (fit) read_into(op_, visit_, edge.from, row.where, block);
  copied(edge.from, op_.rank());
}

/// Reads what comes along several edges once, and copies it on while it is in the cache; fetch() then finds it taken.
void Exchange::fetch_twins(int first) {
  const Got& edge = got_[first];
  const DataView block = call_.recv_block(edge.block);
  const bool wanted = edge.theirs->bytes != 0 && !lies_in_place(edge.theirs->where) && block.dense() &&
                      static_cast<MPI_Count>(edge.theirs->bytes) == block.bytes() && has_twin(edge.block);
  if (!wanted || !take(*edge.theirs)) return;
  std::byte* twins[kTwins];
  int count = 0;
  for (int i = first + 1; i < got_count_; ++i) {
    const DataView other = call_.recv_block(got_[i].block);
    if (got_[i].from != edge.from || !other.dense() || other.bytes() != block.bytes() || !take(*got_[i].theirs))
      continue;
    twins[count++] = static_cast<std::byte*>(other.data);
  }
  auto* const data = static_cast<std::byte*>(block.data);
  for (MPI_Count at = 0; at < block.bytes(); at += kChunk) {
    const MPI_Count n = block.bytes() - at < kChunk ? block.bytes() - at : kChunk;
    read_from(op_, visit_, edge.from, edge.theirs->where + static_cast<std::uint64_t>(at), data + at, n);
    for (int i = 0; i < count; ++i) copy_dense(data + at, twins[i] + at, n);
  }
  for (int i = 0; i <= count; ++i) copied(edge.from, op_.rank());
}

void Exchange::finish() {
  if (!wrong_.ok()) op_.fail(wrong_);
}

}  // namespace ashlar::coll::shm

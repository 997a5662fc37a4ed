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

/// How many rows a rank's place begins with. In its line: whoever waits for that has it in the cache.
struct Head {
  std::int32_t sent, got;
};
static_assert(sizeof(Head) <= kInline);

/// The length in the rows of a rank that had no memory to take part.
constexpr std::uint64_t kUnable = ~std::uint64_t{0};

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

  static Table of(const Op& op, const Call& call, const Visit& visit, Rank r) {
    Table table{place_of(visit, r), op.size(), op.size()};
    if (call.topology == nullptr) return table;
    Head head;
    std::memcpy(&head, visit.layout().contribution(visit.number, static_cast<std::uint32_t>(r)).data, sizeof head);
    table.sent = head.sent;
    table.got = head.got;
    return table;
  }
  Outgoing& out(int i) const { return reinterpret_cast<Outgoing*>(rows)[i]; }
  Incoming& in(int i) const {
    return reinterpret_cast<Incoming*>(rows + static_cast<std::size_t>(sent) * sizeof(Outgoing))[i];
  }
};

std::size_t table_bytes(std::size_t sent, std::size_t got) { return sent * sizeof(Outgoing) + got * sizeof(Incoming); }

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
      room_(static_cast<MPI_Count>(blocks_bytes(static_cast<std::uint32_t>(op.size())))),
      small_(static_cast<MPI_Count>(configuration().small_block)) {}

/// What match() needs. Where everything goes through places among all, it is not called.
bool Exchange::make_lists() {
  if (!neighbours() && amount_ == 0) {
    to_see_ = op_.size() - 1;
    return true;
  }
  const int sent = sent_blocks(), got = got_blocks();
  sent_ = reinterpret_cast<Sent*>(op_.scratch(sent * MPI_Count{sizeof(Sent)}));
  got_ = reinterpret_cast<Got*>(op_.scratch(got * MPI_Count{sizeof(Got)}));
  seen_ = reinterpret_cast<bool*>(op_.scratch(sent + got));
  if (!op_.failure().ok()) return false;
  for (int i = 0; i < sent + got; ++i) {
    const Rank other = i < sent ? receiver(i) : sender(i - sent);
    seen_[i] = other == MPI_PROC_NULL || other == op_.rank();
    if (!seen_[i]) ++to_see_;
  }
  return true;
}

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
  const MPI_Count most =
      same_for_all_ ? static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op_.size()))) : small_;
  if (bytes <= most && *used + bytes <= room_) {
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
  const Head head{sent, got};
  std::memcpy(visit_.layout().contribution(visit_.number, static_cast<std::uint32_t>(op_.rank())).data, &head,
              sizeof head);
  const Table mine{place, sent, got};
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
  // Without memory nobody gets anything from us, nor we from others; they hear that it went wrong.
  if (op_.failure().ok() && make_lists()) return;
  for (int i = 0; i < sent; ++i) mine.out(i).bytes = kUnable;
  for (int i = 0; i < got; ++i) mine.in(i).bytes = kUnable;
  amount_ = 0;
  to_see_ = 0;
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

bool Exchange::begins_early() const {
  const auto far = static_cast<MPI_Count>(configuration().far_copy);
  return amount_ > (same_for_all_ ? 2 * far : far);
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
  if (own_copied_) return;
  own_copied_ = true;
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

/// Whether an edge that was not looked at yet leads to a rank that has signed by now.
bool Exchange::is_new(int edge, Rank other) const {
  if (seen_[edge]) return false;
  if (all_signed_) return true;
  const Line& line = visit_.layout().contribution(visit_.number, static_cast<std::uint32_t>(other));
  return line.number.load(std::memory_order_acquire) == visit_.word();
}

bool Exchange::any_new() const {
  if (all_signed_) return true;
  for (int i = 0; i < sent_blocks(); ++i) {
    if (is_new(i, receiver(i))) return true;
  }
  for (int i = 0; i < got_blocks(); ++i) {
    if (is_new(sent_blocks() + i, sender(i))) return true;
  }
  return false;
}

/// Finds both ends' rows of the edges to other ranks that have signed since the last time.
void Exchange::match() {
  const Table mine = Table::of(op_, call_, visit_, op_.rank());
  for (int step = 0; step < mine.sent; ++step) {
    const int i = neighbours() ? step : (op_.rank() + step) % mine.sent;
    const Rank to = receiver(i);
    if (!is_new(i, to)) continue;
    seen_[i] = true;
    --to_see_;
    if (mine.out(i).bytes == 0 || lies_in_place(mine.out(i).where)) continue;  // the receiver sees to it
    const Table theirs = Table::of(op_, call_, visit_, to);
    const int at = neighbours() ? nth_from(theirs, op_.rank(), earlier_to(i)) : op_.rank();
    if (at >= 0 && theirs.in(at).bytes != kUnable) {
      sent_[sent_count_++] = Sent{&mine.out(i), &theirs.in(at)};
    } else {
      no_such_edge(to, at >= 0);
    }
  }
  for (int step = 0; step < mine.got; ++step) {
    const int i = neighbours() ? in_order(step) : (op_.rank() - step + mine.got) % mine.got;
    const Rank from = sender(i);
    if (!is_new(mine.sent + i, from)) continue;
    seen_[mine.sent + i] = true;
    --to_see_;
    const Table theirs = Table::of(op_, call_, visit_, from);
    const int at = neighbours() ? nth_to(theirs, op_.rank(), earlier_from(step)) : op_.rank();
    if (at >= 0 && theirs.out(at).bytes != kUnable) {
      got_[got_count_++] = Got{from, i, &theirs.out(at)};
    } else {
      no_such_edge(from, at >= 0);
    }
  }
}

void Exchange::no_such_edge(Rank other, bool unable) {
  wrong_ = unable ? other_rank_failed()
                  : Status::fail(MPI_ERR_TOPOLOGY, "rank %d does not know of every edge between it and rank %d", other,
                                 op_.rank());
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
  if (seen_ == nullptr) return fetch_all();
  const int first_sent = sent_count_, first_got = got_count_;
  match();
  if (same_for_all_) hand_out(first_sent);
  for (int step = 0; first_sent + step < sent_count_ || first_got + step < got_count_; ++step) {
    if (const int i = first_sent + step; !same_for_all_ && i < sent_count_ && begin_with(sent_[i])) {
      const Outgoing& mine = *sent_[i].mine;
      write_to(op_, visit_, mine.to, sent_[i].theirs->address, memory_at(mine.where),
               static_cast<MPI_Count>(mine.bytes));
      copied(op_.rank(), mine.to);
    }
    const int i = first_got + step;
    if (i >= got_count_) continue;
    fetch_twins(i);
    fetch(got_[i]);
  }
}

/// Among all, when we have nothing to bring: straight from the rows of the others.
void Exchange::fetch_all() {
  for (int step = 1; step < op_.size(); ++step) {
    const Rank from = (op_.rank() - step + op_.size()) % op_.size();
    Outgoing& row = Table::of(op_, call_, visit_, from).out(op_.rank());
    if (row.bytes == kUnable) {
      no_such_edge(from, true);
    } else {
      fetch(Got{from, from, &row});
    }
  }
  to_see_ = 0;
}

bool Exchange::take(Outgoing& row) {
  return row.taken.load(std::memory_order_relaxed) == 0 && row.taken.exchange(1, std::memory_order_relaxed) == 0;
}

/// Counts a block that leaves by a copy; whether this rank is to make it.
bool Exchange::begin_with(const Sent& edge) {
  ++expected_;
  return edge.theirs->address != 0 && edge.theirs->bytes == edge.mine->bytes && take(*edge.mine);
}

/// The block for everyone, to all who have not fetched it.
void Exchange::hand_out(int first) {
  Sent* const takers = sent_ + first;
  int count = 0;
  for (int i = first; i < sent_count_; ++i) {
    if (begin_with(sent_[i])) takers[count++] = sent_[i];
  }
  if (count == 0) return;
  const auto bytes = static_cast<MPI_Count>(takers[0].mine->bytes);
  const MPI_Count chunk = count > 1 ? kChunk : bytes;  // for one, every call of the system would only cost
  for (MPI_Count at = 0; at < bytes; at += chunk) {
    const MPI_Count n = bytes - at < chunk ? bytes - at : chunk;
    for (int i = 0; i < count; ++i) {
      write_to(op_, visit_, takers[i].mine->to, takers[i].theirs->address + static_cast<std::uint64_t>(at),
               memory_at(takers[i].mine->where) + at, n);
    }
  }
  for (int i = 0; i < count; ++i) copied(op_.rank(), takers[i].mine->to);
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

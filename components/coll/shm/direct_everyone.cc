#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Blocks for one rank up to this size are left in the segment by their sender: a copy more, a system call less. A
/// block for all is left there whenever there is room.
constexpr MPI_Count kSmallBlock = 8192;
/// What is written to everyone while it is in a core's cache.
constexpr MPI_Count kChunk = 64 * 1024;
constexpr std::uint64_t kFailed = std::uint64_t{1} << 32;

/// What a rank's place says of its blocks. `out`: the distance from the place's beginning of a block that lies behind
/// the tables, or the address of one in the rank's memory (addresses are larger than places). `in`: where the block of
/// another rank goes, or 0 when only the rank itself can put it there. `taken`: whether somebody copies an outgoing
/// block, its sender or its receiver: whoever comes first.
struct Tables {
  std::byte* place;
  std::size_t ranks;

  static Tables of(const Op& op, const Visit& visit, Rank r) {
    return Tables{visit.layout().large_contribution(visit.number, static_cast<std::uint32_t>(r)),
                  static_cast<std::size_t>(op.size())};
  }
  std::uint64_t& out(Rank to) const { return reinterpret_cast<std::uint64_t*>(place)[to]; }
  std::uint64_t& in(Rank from) const {
    return reinterpret_cast<std::uint64_t*>(place)[ranks + static_cast<std::size_t>(from)];
  }
  std::atomic<std::uint32_t>& taken(Rank to) const {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(place + 2 * ranks * sizeof(std::uint64_t))[to];
  }
  MPI_Count end() const { return static_cast<MPI_Count>((ranks * table_entry_bytes() + 63) / 64 * 64); }
};

/// Copies that a rank's buffers have been part of, counted in its line of the number behind; with kFailed for each that
/// went wrong.
std::atomic<std::uint64_t>& copies(const Visit& visit, std::uint64_t number, Rank r) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(
      visit.layout().contribution(number, static_cast<std::uint32_t>(r)).data);
}

/// Until all copies that our buffers are part of are over.
struct CopiesWait : VisitWait {
  const std::atomic<std::uint64_t>* count;
  std::uint64_t expected;

  CopiesWait(const Op& op, const Visit& of, std::uint64_t all)
      : VisitWait(op, of), count(&copies(of, of.number, op.rank())), expected(all) {
    holds = [](Condition& self) { return static_cast<CopiesWait&>(self).seen(); };
  }
  bool seen() const { return (count->load(std::memory_order_acquire) & (kFailed - 1)) == expected; }
  bool all_went_well() const { return count->load(std::memory_order_relaxed) < kFailed; }
};

/// One rank's part of an exchange of blocks.
struct Exchange {
  Op& op;
  const Call& call;
  const Visit& visit;
  const Tables mine;
  const bool same_for_all;
  const MPI_Count room;
  std::uint64_t expected = 0;  // copies that our buffers are part of

  Exchange(Op& o, const Call& c, const Visit& v)
      : op(o),
        call(c),
        visit(v),
        mine(Tables::of(o, v, o.rank())),
        same_for_all(c.what == Collective::kAllgather || c.what == Collective::kAllgatherv),
        room(static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(o.size())))) {}

  bool lies_in_place(std::uint64_t where) const { return where < static_cast<std::uint64_t>(room); }
  MPI_Count bytes_to(Rank to) const { return outgoing(to).bytes(); }
  DataView outgoing(Rank to) const {
    if (same_for_all) return call.in_place ? call.recv_block(op.rank()) : call.send;
    return call.in_place ? call.recv_block(to) : call.send_block(to);
  }

  void offer() {
    copies(visit, visit.number + 1, op.rank()).store(0, std::memory_order_relaxed);
    MPI_Count used = mine.end();
    std::uint64_t shared = 0;
    if (same_for_all) shared = put(outgoing(op.rank()), &used);
    for (int step = 1; step < op.size(); ++step) {
      const Rank other = (op.rank() + step) % op.size();
      mine.taken(other).store(0, std::memory_order_relaxed);
      mine.out(other) = same_for_all ? shared : put(outgoing(other), &used);
      const DataView block = call.recv_block(other);
      mine.in(other) = block.dense() && block.bytes() > kSmallBlock ? address_of(block.data) : 0;
    }
  }
  std::uint64_t put(const DataView& block, MPI_Count* used) {
    const MPI_Count bytes = block.bytes();
    if ((bytes <= kSmallBlock || same_for_all) && *used + bytes <= room) {
      const MPI_Count at = *used;
      op.copy(block, Op::view(mine.place + at, bytes));
      *used += (bytes + 15) / 16 * 16;
      return static_cast<std::uint64_t>(at < room ? at : 0);
    }
    if (!call.in_place || same_for_all) return address_of(op.packed_in(block).bytes);
    // What leaves would be overwritten by what arrives.
    std::byte* const copy = op.scratch(bytes);
    if (copy != nullptr) op.copy(block, Op::view(copy, bytes));
    return address_of(copy);
  }

  bool take(Rank from, Rank to) const {
    std::atomic<std::uint32_t>& taken = Tables::of(op, visit, from).taken(to);
    return taken.load(std::memory_order_relaxed) == 0 && taken.exchange(1, std::memory_order_relaxed) == 0;
  }
  void copied(Rank from, Rank to) const {
    const std::uint64_t one = 1 + (op.failure().ok() ? 0 : kFailed);
    copies(visit, visit.number + 1, from).fetch_add(one, std::memory_order_acq_rel);
    copies(visit, visit.number + 1, to).fetch_add(one, std::memory_order_acq_rel);
    wake_sleepers(op, visit);
  }

  /// Our blocks to whom they go, as far as nobody has fetched them.
  void hand_out() {
    auto* const takers = reinterpret_cast<Rank*>(op.scratch(op.size() * MPI_Count{sizeof(Rank)}));
    int count = 0;
    for (int step = 1; step < op.size(); ++step) {
      const Rank to = (op.rank() + step) % op.size();
      if (bytes_to(to) == 0 || lies_in_place(mine.out(to))) continue;
      ++expected;
      if (takers == nullptr || Tables::of(op, visit, to).in(op.rank()) == 0) continue;
      if (same_for_all) {
        if (take(op.rank(), to)) takers[count++] = to;
      } else if (take(op.rank(), to)) {
        write_to(op, visit, to, Tables::of(op, visit, to).in(op.rank()), memory_at(mine.out(to)), bytes_to(to));
        copied(op.rank(), to);
      }
    }
    if (count == 0) return;
    const MPI_Count bytes = bytes_to(op.rank());
    const MPI_Count chunk = count > 1 ? kChunk : bytes;  // for one, every call of the system would only cost
    for (MPI_Count at = 0; at < bytes; at += chunk) {
      const MPI_Count n = bytes - at < chunk ? bytes - at : chunk;
      for (int i = 0; i < count; ++i) {
        const std::uint64_t to = Tables::of(op, visit, takers[i]).in(op.rank()) + static_cast<std::uint64_t>(at);
        write_to(op, visit, takers[i], to, memory_at(mine.out(takers[i])) + at, n);
      }
    }
    for (int i = 0; i < count; ++i) copied(op.rank(), takers[i]);
  }
  /// The blocks for us, as far as nobody has brought them.
  void fetch() {
    for (int step = 1; step < op.size(); ++step) {
      const Rank from = (op.rank() - step + op.size()) % op.size();
      const DataView block = call.recv_block(from);
      if (block.bytes() == 0) continue;
      const Tables theirs = Tables::of(op, visit, from);
      const std::uint64_t where = theirs.out(op.rank());
      if (lies_in_place(where)) {
        op.copy(Op::view(theirs.place + where, block.bytes()), block);
        continue;
      }
      ++expected;
      if (!take(from, op.rank())) continue;
      read_into(op, visit, from, where, block);
      copied(from, op.rank());
    }
  }
  static const std::byte* memory_at(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }
};

}  // namespace

std::size_t table_entry_bytes() { return 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t); }

Stay twice_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 2, Stay::Reach::kNeeded}; }

/// Allgather(v) and alltoall(v, w): everyone tells where its blocks lie and where those of the others go. Then each
/// rank writes its own and reads the others', whichever nobody else has begun with: on few cores whoever is on one
/// copies for both sides, and is soon done. A block that goes to everyone is written while it is in the cache. Each
/// rank leaves when all copies from and to its buffers are over. T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J.
/// Squyres, J. Dongarra, "Kernel assisted collective intra-node MPI communication among multi-core and many-core CPUs",
/// ICPP 2011, for the single copies; the blocks that lie in the segment are the message buffers of R. Graham, G.
/// Shipman, EuroPVM/MPI 2008.
Co exchange_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  Exchange exchange(op, call, visit);
  exchange.offer();
  sign(op, visit);
  meet(op, visit);
  if (!call.in_place) op.copy(exchange.outgoing(op.rank()), call.recv_block(op.rank()));
  LineWait offered = LineWait::everyone(op, visit);
  st = co_await offered;
  if (offered.failed()) co_return st;
  all_met(visit);
  exchange.hand_out();
  exchange.fetch();
  ++visit.number;
  CopiesWait finished(op, visit, exchange.expected);
  st = co_await finished;
  if (finished.failed()) co_return st;
  if (!finished.all_went_well()) op.fail(other_rank_failed());
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

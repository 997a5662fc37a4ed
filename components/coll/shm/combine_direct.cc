#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

constexpr MPI_Count kChunk = 32 * 1024;  // what is read, combined and written while it is in a core's cache

/// Where a rank's vectors lie in its memory; in its line.
struct Vectors {
  std::uint64_t send, recv;
  MPI_Count bytes;
};
static_assert(sizeof(Vectors) <= kInline);

Vectors vectors_of(const Ticket& ticket, Rank r) {
  Vectors vectors;
  std::memcpy(&vectors, ticket.line(static_cast<std::uint32_t>(r)).data, sizeof vectors);
  return vectors;
}

/// The items that this rank combines for all: its share of the vector, or the piece that is its own.
struct Slice {
  MPI_Count begin, end;  // items

  static Slice of(const Op& op, const Call& call) {
    if (call.what == Collective::kReduceScatter || call.what == Collective::kReduceScatterBlock) {
      MPI_Count begin = 0;
      for (Rank r = 0; r < op.rank(); ++r) begin += call.piece(r);
      return Slice{.begin = begin, .end = begin + call.piece(op.rank())};
    }
    // Whole cache lines, so that no two ranks write into one.
    const MPI_Count count = call.send.count;
    const MPI_Count item = call.send.type->size();
    const MPI_Count grain = item > 0 && item < 64 ? 64 / item : 1;
    const MPI_Count each = ((count + op.size() - 1) / op.size() + grain - 1) / grain * grain;
    const MPI_Count begin = each * op.rank() < count ? each * op.rank() : count;
    return Slice{.begin = begin, .end = begin + each < count ? begin + each : count};
  }
};

/// Brings items of every rank's vector here, chunk by chunk, and distributes the result.
struct Worker {
  Op& op;
  const Call& call;
  const Ticket& ticket;
  const MPI_Count item;
  const MPI_Count chunk;  // items
  std::byte* const incoming;
  std::byte* const spare;
  const std::byte* const own;
  const bool in_place;

  Worker(Op& o, const Call& c, const Ticket& t)
      : op(o),
        call(c),
        ticket(t),
        item(c.send.type->size()),
        chunk(item < kChunk ? kChunk / item : 1),
        incoming(o.scratch(chunk * item)),
        spare(o.scratch(chunk * item)),
        own(static_cast<const std::byte*>(c.send.data)),
        in_place(c.send.data == c.recv.data) {}

  /// Rank r's items from `at` on: where they lie already, or read into `to`.
  const std::byte* operand(Rank r, MPI_Count at, MPI_Count count, std::byte* to) {
    if (r == op.rank()) return own + at * item;
    read_from(op, ticket, r, vectors_of(ticket, r).send + static_cast<std::uint64_t>(at * item), to, count * item);
    return to;
  }
  /// a0 op (a1 op (... a[n-1])) into `to`.
  void combine(MPI_Count at, MPI_Count count, std::byte* to) {
    const Rank last = op.size() - 1;
    op.copy_bytes(operand(last, at, count, to), to, count * item);
    for (Rank r = last - 1; r >= 0; --r) op.combine(call, operand(r, at, count, incoming), to, count);
  }
  void give_to(Rank r, MPI_Count at, MPI_Count count, const std::byte* from) {
    if (r != op.rank()) {
      write_to(op, ticket, r, vectors_of(ticket, r).recv + static_cast<std::uint64_t>(at * item), from, count * item);
    } else {
      op.copy_bytes(from, static_cast<std::byte*>(call.recv.data) + at * item, count * item);
    }
  }
  /// ((a0 op a1) op a2) ... of the ranks up to each, which gets it. What a rank gets, it has been read from before.
  void prefixes(MPI_Count at, MPI_Count count) {
    const bool inclusive = call.what == Collective::kScan;
    std::byte* sum = spare;
    std::byte* next = incoming;
    op.copy_bytes(operand(0, at, count, sum), sum, count * item);
    if (inclusive) give_to(0, at, count, sum);
    for (Rank r = 1; r < op.size(); ++r) {
      const bool last_matters = inclusive || r + 1 < op.size();
      if (last_matters) {
        op.copy_bytes(operand(r, at, count, next), next, count * item);
        op.combine(call, sum, next, count);
      }
      give_to(r, at, count, inclusive ? next : sum);
      std::byte* const other = sum;
      sum = next;
      next = other;
    }
  }
  /// `result`: of a reduce_scatter, where its piece is put together.
  void work(const Slice& slice, std::byte* result) {
    auto* const recv = static_cast<std::byte*>(call.recv.data);
    const bool gets = recv != nullptr && !in_place;
    for (MPI_Count at = slice.begin; at < slice.end && op.failure().ok(); at += chunk) {
      const MPI_Count count = slice.end - at < chunk ? slice.end - at : chunk;
      switch (call.what) {
        case Collective::kScan:
        case Collective::kExscan:
          prefixes(at, count);
          break;
        case Collective::kAllreduce: {
          std::byte* const to = gets ? recv + at * item : spare;
          combine(at, count, to);
          for (int step = 0; step < op.size(); ++step) give_to((op.rank() + step) % op.size(), at, count, to);
          break;
        }
        case Collective::kReduce: {
          const bool straight = gets && op.rank() == call.root;
          std::byte* const to = straight ? recv + at * item : spare;
          combine(at, count, to);
          give_to(call.root, at, count, to);
          break;
        }
        default:
          combine(at, count, result + (at - slice.begin) * item);
      }
    }
  }
};

/// Into this rank's line: whether what it was to write into other ranks' buffers lies there.
void write_outcome(const Op& op, const Ticket& ticket) {
  ticket.line(ticket.me()).data[0] = std::byte{op.failure().ok()};
}
bool all_wrote(const Ticket& ticket) {
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    if (ticket.line(r).data[0] == std::byte{0}) return false;
  }
  return true;
}

}  // namespace

/// Every rank combines its slice of all vectors, straight from the callers' buffers, and writes the result into the
/// buffers of the ranks that get it: a reduce-scatter and a gather in one pass over the slice, chunk by chunk. S. Li,
/// T. Hoefler, M. Snir, HPDC 2013, with the single copies of T. Ma et al., ICPP 2011. Ranks publish their
/// addresses before, and leave when all have combined.
Co combine_direct(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const bool pieces = call.what == Collective::kReduceScatter || call.what == Collective::kReduceScatterBlock;
  const bool apart = pieces && call.send.data == call.recv.data;  // others still read what the result would overwrite
  const Slice slice = Slice::of(op, call);
  std::byte* result = static_cast<std::byte*>(call.recv.data);
  if (apart) result = op.scratch((slice.end - slice.begin) * call.send.type->size());
  const Vectors vectors{.send = address_of(call.send.data), .recv = address_of(call.recv.data), .bytes = call.bytes};
  std::memcpy(ticket.line(ticket.me()).data, &vectors, sizeof vectors);
  publish(ticket);
  arrive(ticket);
  FlagWait published = FlagWait::all_arrived(ticket);
  st = co_await published;
  if (published.failed()) co_return st;
  note_all_arrived(ticket);
  for (Rank r = 0; r < op.size(); ++r) {
    const MPI_Count theirs = vectors_of(ticket, r).bytes;
    if (theirs != call.bytes) op.fail(sizes_differ(r, theirs, op.rank(), call.bytes));
  }
  Worker worker(op, call, ticket);
  worker.work(slice, result);
  ++ticket.number;
  write_outcome(op, ticket);
  publish(ticket);
  arrive(ticket);
  FlagWait finished = FlagWait::all_arrived(ticket);
  st = co_await finished;
  if (finished.failed()) co_return st;
  note_all_arrived(ticket);
  if (!all_wrote(ticket)) op.fail(other_rank_failed());
  if (apart) op.copy_bytes(result, call.recv.data, (slice.end - slice.begin) * call.send.type->size());
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

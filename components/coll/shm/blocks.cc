#include <cstring>

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Blocks of a scatter up to this size are left in the segment by the root: it copies them one by one, and goes on.
constexpr MPI_Count kSmallBlock = 8192;

/// What a line says of one block: how long it is, which says how it travels, and the shortest blocks themselves.
struct Told {
  static constexpr std::uint64_t kFailed = UINT64_MAX;

  std::uint64_t bytes;  // as its sender has it; kFailed: he could not copy it
  std::byte data[kInline - 3 * sizeof(std::uint64_t)];
  std::uint64_t address;  // of a scatter's block; of the root's room for a gather's
  std::uint64_t room;     // bytes there

  static Told& in(Line& line) { return *reinterpret_cast<Told*>(line.data); }
};
static_assert(sizeof(Told) == kInline);

/// How a block travels. Its sender chooses by its length, and the receiver by the length that it is told.
enum class Way : std::uint8_t {
  kLine,     // in the line
  kPlace,    // in the place beside it
  kCopied,   // once, between the callers' buffers
  kMessage,  // where ranks do not reach each other's memory
};

struct Ways {
  MPI_Count place;  // the largest block that is left in a place
  bool reach;

  static Ways of(const Op& op, const Call& call, const Visit& visit) {
    return Ways{most_in_place(op, call), visit.group->reach == Group::Reach::kProved};
  }
  static MPI_Count most_in_place(const Op& op, const Call& call) {
    const auto room = static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())));
    const bool root_copies = call.what == Collective::kScatter || call.what == Collective::kScatterv;
    return root_copies && room > kSmallBlock ? kSmallBlock : room;
  }
  static bool fits_line(MPI_Count bytes) { return bytes <= static_cast<MPI_Count>(sizeof(Told::data)); }

  Way operator()(MPI_Count bytes) const {
    if (fits_line(bytes)) return Way::kLine;
    if (bytes <= place) return Way::kPlace;
    return reach ? Way::kCopied : Way::kMessage;
  }
  /// Our memory for a block that lies in the segment.
  std::byte* memory(const Visit& visit, std::uint32_t rank, MPI_Count bytes) const {
    return fits_line(bytes) ? Told::in(visit.layout().contribution(visit.number, rank)).data
                            : visit.layout().large_contribution(visit.number, rank);
  }
};

/// One number; this rank writes a place, or nothing but lines.
Stay stay_for(const Call& call, bool place) {
  const bool lengths_known = call.what == Collective::kGather || call.what == Collective::kScatter;
  const Stay::Reach reach = lengths_known                 ? Stay::Reach::kNeeded  // the rules have others
                            : configuration().single_copy ? Stay::Reach::kTried
                                                          : Stay::Reach::kNone;
  return Stay{place ? static_cast<MPI_Count>(kInline) + 1 : 0, 1, reach};
}

}  // namespace

Stay scatter_blocks_stay(const Op& op, const Call& call) {
  MPI_Count largest = 0;
  if (op.rank() == call.root) {
    const MPI_Count most = Ways::most_in_place(op, call);
    for (Rank r = 0; r < op.size(); ++r) {
      const MPI_Count bytes = call.send_block(r).bytes();
      if (r != op.rank() && bytes > largest && bytes <= most) largest = bytes;
    }
  }
  return stay_for(call, !Ways::fits_line(largest));
}

Stay gather_blocks_stay(const Op& op, const Call& call) {
  const MPI_Count bytes = op.rank() == call.root ? 0 : call.send.bytes();
  return stay_for(call, !Ways::fits_line(bytes) && bytes <= Ways::most_in_place(op, call));
}

/// Each rank is told its block's length by its line. Short blocks are left in the segment, and with no other the root
/// goes on at once, as in our scatter; longer ones each rank copies out of the root's buffer (T. Ma, G. Bosilca, A.
/// Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted collective intra-node MPI communication among
/// multi-core and many-core CPUs", ICPP 2011), or gets as a message. So it serves those collectives whose lengths only
/// the root knows.
Co scatter_blocks(Op& op, const Call& call, Visit visit) {
  Status st;
  Gate gate;
  const Layout& layout = visit.layout();
  const Ways ways = Ways::of(op, call, visit);
  const auto me = static_cast<std::uint32_t>(op.rank());
  if (op.rank() != call.root) {
    LineWait wait = LineWait::from(op, visit, layout.contribution(visit.number, me), call.root);
    st = co_await wait;
    if (wait.failed()) co_return st;
    const Told& told = Told::in(layout.contribution(visit.number, me));
    const auto bytes = static_cast<MPI_Count>(told.bytes);
    const Way way = ways(bytes);
    if (way == Way::kMessage) {
      op.recv(call.root, call.recv, gate);
      st = co_await gate;
    } else if (bytes != call.recv.bytes()) {
      op.fail(sizes_differ(call.root, bytes, op.rank(), call.recv.bytes()));
    } else if (way == Way::kCopied) {
      read_into(op, visit, call.root, told.address, call.recv);
    } else {
      op.copy(Op::view(ways.memory(visit, me, bytes), bytes), call.recv);
    }
    if (way == Way::kCopied)
      done_and_tell(op, visit);
    else
      done(op, visit);
    co_return op.failure();
  }
  bool others_read = false;
  bool messages = false;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const auto to = static_cast<std::uint32_t>(r);
    const DataView block = call.send_block(r);
    const MPI_Count bytes = block.bytes();
    const Way way = ways(bytes);
    Line& line = layout.contribution(visit.number, to);
    if (way == Way::kCopied) {
      const Packed data = op.packed_in(block);
      Told::in(line).address = address_of(data.bytes);
      others_read = true;
    } else if (way == Way::kMessage) {
      messages = true;
    } else {
      op.copy(block, Op::view(ways.memory(visit, to, bytes), bytes));
    }
    Told::in(line).bytes = static_cast<std::uint64_t>(bytes);
    line.number.store(visit.word(), std::memory_order_release);
  }
  wake_sleepers(op, visit);
  if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
  if (messages) {
    for (Rank r = 0; r < op.size(); ++r) {
      const DataView block = call.send_block(r);
      if (r != op.rank() && ways(block.bytes()) == Way::kMessage) op.send(r, block, gate);
    }
    st = co_await gate;
  }
  if (others_read) {
    DoneWait readers(op, visit);
    st = co_await readers;
    if (readers.failed()) co_return st;
  }
  done(op, visit);
  co_return op.failure();
}

/// Each rank says in its line how long its block is. Short ones it leaves in the segment and goes on, as in our gather;
/// longer ones it writes where the root tells it to, so that all cores copy (T. Ma et al., ICPP 2011), or sends.
Co gather_blocks(Op& op, const Call& call, Visit visit) {
  Status st;
  Gate gate;
  const Layout& layout = visit.layout();
  const Ways ways = Ways::of(op, call, visit);
  const auto me = static_cast<std::uint32_t>(op.rank());
  Line& result = layout.result(visit.number);
  if (op.rank() != call.root) {
    const MPI_Count bytes = call.send.bytes();
    const Way way = ways(bytes);
    Told& told = Told::in(layout.contribution(visit.number, me));
    told.bytes = static_cast<std::uint64_t>(bytes);
    if (way == Way::kCopied) {
      LineWait wait = LineWait::from(op, visit, result, call.root);
      st = co_await wait;
      if (wait.failed()) co_return st;
      const MPI_Count room = Told::in(result).bytes != 0 ? static_cast<MPI_Count>(told.room) : 0;
      if (bytes == room) {
        const Packed data = op.packed_in(call.send);
        write_to(op, visit, call.root, told.address, data.bytes, bytes);
        if (!op.failure().ok()) told.bytes = Told::kFailed;
      } else {
        op.fail(sizes_differ(op.rank(), bytes, call.root, room));
      }
    } else if (way != Way::kMessage) {
      op.copy(call.send, Op::view(ways.memory(visit, me, bytes), bytes));
    }
    sign(op, visit);
    wake_sleepers(op, visit);
    if (way == Way::kMessage) {
      op.send(call.root, call.send, gate);
      st = co_await gate;
    }
    done(op, visit);
    co_return op.failure();
  }
  // Where the long ones go.
  bool any_long = false;
  Packed* blocks = nullptr;
  for (Rank r = 0; r < op.size() && !any_long; ++r)
    any_long = r != op.rank() && ways(call.recv_block(r).bytes()) == Way::kCopied;
  if (any_long) {
    blocks = reinterpret_cast<Packed*>(op.scratch(op.size() * static_cast<MPI_Count>(sizeof(Packed))));
    for (Rank r = 0; r < op.size(); ++r) {
      if (r == op.rank()) continue;
      const DataView block = call.recv_block(r);
      const bool copied = blocks != nullptr && ways(block.bytes()) == Way::kCopied;
      const Packed room = copied ? op.packed_out(block) : Packed{};
      if (blocks != nullptr) blocks[r] = room;
      Told& told = Told::in(layout.contribution(visit.number, static_cast<std::uint32_t>(r)));
      told.address = address_of(room.bytes);
      told.room = room.bytes != nullptr ? static_cast<std::uint64_t>(room.size) : 0;
    }
  }
  // A rank that has a long block, and no room here, is not left waiting.
  Told::in(result).bytes = any_long ? 1 : 0;
  result.number.store(visit.word(), std::memory_order_release);
  if (any_long) wake_sleepers(op, visit);
  sign(op, visit);
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (!ways.reach) {
    for (Rank r = 0; r < op.size(); ++r) {
      if (r == op.rank()) continue;
      const Told& told = Told::in(layout.contribution(visit.number, static_cast<std::uint32_t>(r)));
      const auto bytes = static_cast<MPI_Count>(told.bytes);
      if (ways(bytes) != Way::kMessage) continue;
      const DataView block = call.recv_block(r);
      // One that is too long is received all the same: a failure now would leave the others waiting.
      op.recv(r, bytes == block.bytes() ? block : Op::view(op.scratch(bytes), bytes), gate);
    }
    st = co_await gate;
  }
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const auto from = static_cast<std::uint32_t>(r);
    const Told& told = Told::in(layout.contribution(visit.number, from));
    const DataView block = call.recv_block(r);
    const auto bytes = static_cast<MPI_Count>(told.bytes);
    if (told.bytes == Told::kFailed) {
      op.fail(other_rank_failed());
    } else if (bytes != block.bytes()) {
      op.fail(sizes_differ(r, bytes, op.rank(), block.bytes()));
    } else if (ways(bytes) == Way::kMessage) {
      continue;
    } else if (ways(bytes) == Way::kCopied) {
      if (blocks != nullptr) op.unpack(blocks[r], block);
    } else {
      op.copy(Op::view(ways.memory(visit, from, bytes), bytes), block);
    }
  }
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

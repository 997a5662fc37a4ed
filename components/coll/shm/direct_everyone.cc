#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Blocks up to this size are left in the segment by their sender: a copy more, a system call less.
constexpr MPI_Count kSmallBlock = 2048;

/// The outgoing blocks of an all-to-all, as the others find them: a table in our place, with the distance of a block
/// that lies behind it, or the address of one that lies in our memory. Addresses are larger than places.
struct Outgoing {
  std::uint64_t* table;
  MPI_Count used, room;
  bool others_read = false;

  Outgoing(const Op& op, const Visit& visit)
      : table(reinterpret_cast<std::uint64_t*>(
            visit.layout().large_contribution(visit.number, static_cast<std::uint32_t>(op.rank())))),
        used((op.size() * static_cast<MPI_Count>(sizeof(std::uint64_t)) + 63) / 64 * 64),
        room(static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())))) {}

  void add(Op& op, const Call& call, Rank to) {
    const DataView block = call.in_place ? call.recv_block(to) : call.send_block(to);
    const MPI_Count bytes = block.bytes();
    if (bytes <= kSmallBlock && used + bytes <= room) {
      op.copy(block, Op::view(reinterpret_cast<std::byte*>(table) + used, bytes));
      table[to] = static_cast<std::uint64_t>(used);
      used += (bytes + 15) / 16 * 16;
      return;
    }
    // In place, what leaves would be overwritten by what arrives.
    std::byte* const copy = call.in_place ? op.scratch(bytes) : op.packed_in(block).bytes;
    if (call.in_place && copy != nullptr) op.copy(block, Op::view(copy, bytes));
    table[to] = address_of(copy);
    others_read = true;
  }
};

void take_block(Op& op, const Visit& visit, Rank from, MPI_Count room, const DataView& to) {
  const std::byte* const place = visit.layout().large_contribution(visit.number, static_cast<std::uint32_t>(from));
  const std::uint64_t where = reinterpret_cast<const std::uint64_t*>(place)[op.rank()];
  if (where < static_cast<std::uint64_t>(room)) {
    op.copy(Op::view(place + where, to.bytes()), to);
  } else {
    read_into(op, visit, from, where, to);
  }
}

}  // namespace

Stay twice_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 2, true}; }

/// Everyone tells where its block lies, copies the others', and leaves when all have. T. Ma et al., ICPP 2011.
Co allgather_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const DataView own = call.recv_block(op.rank());
  const Packed data = op.packed_in(call.in_place ? own : call.send);
  const std::uint64_t address = address_of(data.bytes);
  std::memcpy(visit.layout().contribution(visit.number, static_cast<std::uint32_t>(op.rank())).data, &address,
              sizeof address);
  sign(op, visit);
  meet(op, visit);
  if (!call.in_place) op.copy(call.send, own);
  LineWait offered = LineWait::everyone(op, visit);
  st = co_await offered;
  if (offered.failed()) co_return st;
  all_met(visit);
  for (int step = 1; step < op.size(); ++step) {
    const Rank from = (op.rank() + step) % op.size();
    std::uint64_t where;
    std::memcpy(&where, visit.layout().contribution(visit.number, static_cast<std::uint32_t>(from)).data, sizeof where);
    read_into(op, visit, from, where, call.recv_block(from));
  }
  ++visit.number;
  sign(op, visit);
  meet(op, visit);
  LineWait finished = LineWait::everyone(op, visit);
  st = co_await finished;
  if (finished.failed()) co_return st;
  all_met(visit);
  done(op, visit);
  co_return op.failure();
}

/// The same with a block for each: small ones in the segment, others by their addresses. Who has only small ones need
/// not wait for the others at the end. T. Ma et al., ICPP 2011; the small blocks are the message buffers of R. Graham,
/// G. Shipman, EuroPVM/MPI 2008.
Co alltoall_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  Outgoing outgoing(op, visit);
  for (int step = 1; step < op.size(); ++step) outgoing.add(op, call, (op.rank() + step) % op.size());
  sign(op, visit);
  meet(op, visit);
  if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv_block(op.rank()));
  LineWait offered = LineWait::everyone(op, visit);
  st = co_await offered;
  if (offered.failed()) co_return st;
  all_met(visit);
  for (int step = 1; step < op.size(); ++step) {
    const Rank from = (op.rank() - step + op.size()) % op.size();
    take_block(op, visit, from, outgoing.room, call.recv_block(from));
  }
  ++visit.number;
  sign(op, visit);
  meet(op, visit);
  if (outgoing.others_read) {
    LineWait finished = LineWait::everyone(op, visit);
    st = co_await finished;
    if (finished.failed()) co_return st;
    all_met(visit);
  }
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

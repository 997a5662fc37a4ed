#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/blocks.h"
#include "components/coll/shm/operands.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Copies this rank's block to where the root wants it, or notes why not. The root learns of a failed copy.
void copy_to_root(Op& op, const Call& call, const Ticket& ticket) {
  const MPI_Count bytes = call.send.bytes();
  BlockLine& line = BlockLine::of(ticket, ticket.me());
  const bool expected = BlockLine::in(ticket.result_line()).bytes != 0;
  const MPI_Count room = expected ? static_cast<MPI_Count>(line.room) : 0;
  if (bytes != room) return op.fail(sizes_differ(op.rank(), bytes, call.root, room));
  const Packed data = op.packed_in(call.send);
  write_to(op, ticket, call.root, line.address, data.bytes, bytes);
  if (!op.failure().ok()) line.bytes = BlockLine::kNotCopied;
}

Co gather_leaf(Op& op, const Call& call, Ticket ticket) {
  Status st;
  Gate gate;
  const MPI_Count bytes = call.send.bytes();
  const Route route = Routes::of(op, call)(bytes);
  BlockLine::of(ticket, ticket.me()).bytes = static_cast<std::uint64_t>(bytes);
  if (route == Route::kSingleCopy) {
    FlagWait wait = FlagWait::result_from(ticket, call.root);
    st = co_await wait;
    if (wait.failed()) co_return st;
    copy_to_root(op, call, ticket);
  } else if (route != Route::kMessage) {
    op.copy(call.send, Op::view(Routes::in_segment(ticket, ticket.me(), bytes), bytes));
  }
  publish_and_wake(ticket);
  if (route == Route::kMessage) {
    op.send(call.root, call.send, gate);
    st = co_await gate;
  }
  done(ticket);
  co_return op.failure();
}

/// Publishes, in the result, whether long blocks are expected; and in the lines of their senders where they go. Returns
/// the root's memory for each block; nullptr: there are no long ones, or no memory (noted).
Packed* publish_rooms(Op& op, const Call& call, const Ticket& ticket, const Routes& routes) {
  bool any_long = false;
  for (Rank r = 0; r < op.size() && !any_long; ++r)
    any_long = r != op.rank() && routes(call.recv_block(r).bytes()) == Route::kSingleCopy;
  Packed* rooms = nullptr;
  if (any_long) rooms = reinterpret_cast<Packed*>(op.scratch(op.size() * static_cast<MPI_Count>(sizeof(Packed))));
  for (Rank r = 0; r < op.size() && any_long; ++r) {
    if (r == op.rank()) continue;
    const DataView block = call.recv_block(r);
    const bool is_long = rooms != nullptr && routes(block.bytes()) == Route::kSingleCopy;
    const Packed room = is_long ? op.packed_out(block) : Packed{};
    if (rooms != nullptr) rooms[r] = room;
    BlockLine& line = BlockLine::of(ticket, static_cast<std::uint32_t>(r));
    line.address = address_of(room.bytes);
    line.room = room.bytes != nullptr ? static_cast<std::uint64_t>(room.size) : 0;
  }
  // Published without long blocks as well: a rank that has one does not wait for ever, but finds no room.
  BlockLine::in(ticket.result_line()).bytes = any_long ? 1 : 0;
  publish_result(ticket);
  if (any_long) wake_sleepers(ticket);
  return rooms;
}

/// Posts a receive for every block that comes as a message. One that is too long is received all the same: its sender
/// waits for the receive, and the failure is noted afterwards.
void receive_messages(Op& op, const Call& call, const Ticket& ticket, const Routes& routes, Gate& gate) {
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const auto bytes = static_cast<MPI_Count>(BlockLine::of(ticket, static_cast<std::uint32_t>(r)).bytes);
    if (routes(bytes) != Route::kMessage) continue;
    const DataView block = call.recv_block(r);
    op.recv(r, bytes == block.bytes() ? block : Op::view(op.scratch(bytes), bytes), gate);
  }
}

/// Takes rank r's block out of the segment, or out of the temporary that a long one was copied to.
void take_block(Op& op, const Call& call, const Ticket& ticket, const Routes& routes, const Packed* rooms, Rank r) {
  const auto from = static_cast<std::uint32_t>(r);
  const BlockLine& line = BlockLine::of(ticket, from);
  if (line.bytes == BlockLine::kNotCopied) return op.fail(other_rank_failed());
  const auto bytes = static_cast<MPI_Count>(line.bytes);
  const DataView block = call.recv_block(r);
  if (bytes != block.bytes()) return op.fail(sizes_differ(r, bytes, op.rank(), block.bytes()));
  switch (routes(bytes)) {
    case Route::kMessage:
      return;
    case Route::kSingleCopy:
      if (rooms != nullptr) op.unpack(rooms[r], block);
      return;
    default:
      op.copy(Op::view(Routes::in_segment(ticket, from, bytes), bytes), block);
  }
}

Co gather_root(Op& op, const Call& call, Ticket ticket) {
  Status st;
  Gate gate;
  const Routes routes = Routes::of(op, call);
  const Packed* const rooms = publish_rooms(op, call, ticket, routes);
  publish(ticket);
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  FlagWait wait = FlagWait::contributions(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (!routes.copies()) {
    receive_messages(op, call, ticket, routes, gate);
    st = co_await gate;
  }
  for (Rank r = 0; r < op.size(); ++r) {
    if (r != op.rank()) take_block(op, call, ticket, routes, rooms, r);
  }
  done(ticket);
  co_return op.failure();
}

}  // namespace

Need gather_blocks_need(const Op& op, const Call& call) {
  const MPI_Count bytes = op.rank() == call.root ? 0 : call.send.bytes();
  return blocks_need(call, !Routes::fits_line(bytes) && bytes <= Routes::most_in_buffer(op, call));
}

/// Each rank publishes how long its block is. Short ones it leaves in the segment and goes on, as in our gather; longer
/// ones it writes to where the root has published room, so that all cores copy (T. Ma et al., ICPP 2011), or sends.
Co gather_blocks(Op& op, const Call& call, Ticket ticket) {
  return op.rank() == call.root ? gather_root(op, call, ticket) : gather_leaf(op, call, ticket);
}

}  // namespace ashlar::coll::shm

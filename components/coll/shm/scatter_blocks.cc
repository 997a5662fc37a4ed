#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/blocks.h"
#include "components/coll/shm/operands.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Writes the line of every other rank, and the blocks that lie in the segment. What is left for the root to wait for.
struct Left {
  bool copies = false;    // ranks read their blocks from the root's memory
  bool messages = false;  // blocks are still to be sent
};
Left write_blocks(Op& op, const Call& call, const Ticket& ticket, const Routes& routes) {
  Left left;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const auto to = static_cast<std::uint32_t>(r);
    const DataView block = call.send_block(r);
    const MPI_Count bytes = block.bytes();
    BlockLine& line = BlockLine::of(ticket, to);
    switch (routes(bytes)) {
      case Route::kSingleCopy:
        line.address = address_of(op.packed_in(block).bytes);
        left.copies = true;
        break;
      case Route::kMessage:
        left.messages = true;
        break;
      default:
        op.copy(block, Op::view(Routes::in_segment(ticket, to, bytes), bytes));
    }
    line.bytes = static_cast<std::uint64_t>(bytes);
    publish_line(ticket, to);
  }
  return left;
}

Co scatter_root(Op& op, const Call& call, Ticket ticket) {
  Status st;
  Gate gate;
  const Routes routes = Routes::of(op, call);
  const Left left = write_blocks(op, call, ticket, routes);
  wake_sleepers(ticket);
  if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
  if (left.messages) {
    for (Rank r = 0; r < op.size(); ++r) {
      const DataView block = call.send_block(r);
      if (r != op.rank() && routes(block.bytes()) == Route::kMessage) op.send(r, block, gate);
    }
    st = co_await gate;
  }
  if (left.copies) {
    DoneWait readers(ticket);
    st = co_await readers;
    if (readers.failed()) co_return st;
  }
  done(ticket);
  co_return op.failure();
}

Co scatter_leaf(Op& op, const Call& call, Ticket ticket) {
  Status st;
  Gate gate;
  FlagWait wait = FlagWait::own_line_from(ticket, call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  const BlockLine& line = BlockLine::of(ticket, ticket.me());
  const auto bytes = static_cast<MPI_Count>(line.bytes);
  const Route route = Routes::of(op, call)(bytes);
  if (route == Route::kMessage) {
    op.recv(call.root, call.recv, gate);
    st = co_await gate;
  } else if (bytes != call.recv.bytes()) {
    op.fail(sizes_differ(call.root, bytes, op.rank(), call.recv.bytes()));
  } else if (route == Route::kSingleCopy) {
    read_into(op, ticket, call.root, line.address, call.recv);
  } else {
    op.copy(Op::view(Routes::in_segment(ticket, ticket.me(), bytes), bytes), call.recv);
  }
  if (route == Route::kSingleCopy)
    done_and_wake(ticket);
  else
    done(ticket);
  co_return op.failure();
}

}  // namespace

Need scatter_blocks_need(const Op& op, const Call& call) {
  MPI_Count largest = 0;  // of those that lie in the segment
  if (op.rank() == call.root) {
    const MPI_Count most = Routes::most_in_buffer(op, call);
    for (Rank r = 0; r < op.size(); ++r) {
      const MPI_Count bytes = call.send_block(r).bytes();
      if (r != op.rank() && bytes > largest && bytes <= most) largest = bytes;
    }
  }
  return blocks_need(call, !Routes::fits_line(largest));
}

/// Each rank learns its block's length from its line. Short blocks lie in the segment, and with no others the root goes
/// on at once, as in our scatter; longer ones each rank copies out of the root's buffer (T. Ma, G. Bosilca, A.
/// Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted collective intra-node MPI communication among
/// multi-core and many-core CPUs", ICPP 2011), or receives as a message. So it serves collectives whose lengths only
/// the root knows.
Co scatter_blocks(Op& op, const Call& call, Ticket ticket) {
  return op.rank() == call.root ? scatter_root(op, call, ticket) : scatter_leaf(op, call, ticket);
}

}  // namespace ashlar::coll::shm

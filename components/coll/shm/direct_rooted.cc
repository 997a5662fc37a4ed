#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

void put_address(Line& line, const void* memory) {
  const std::uint64_t address = address_of(memory);
  std::memcpy(line.data, &address, sizeof address);
}
std::uint64_t address_in(const Line& line) {
  std::uint64_t address;
  std::memcpy(&address, line.data, sizeof address);
  return address;
}

}  // namespace

Stay reach_stay(const Op&, const Call&) { return Stay{0, 1, true}; }
Stay table_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 1, true}; }

/// The root tells where its buffer lies, each rank copies it, and the root leaves when all have. As the single-copy
/// broadcast of T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted collective
/// intra-node MPI communication among multi-core and many-core CPUs", ICPP 2011.
Co bcast_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  if (op.rank() == call.root) {
    const Packed data = op.packed_in(call.recv);
    put_address(visit.layout().result(visit.number), data.bytes);
    publish(op, visit);
    DoneWait readers(op, visit);
    st = co_await readers;
    if (readers.failed()) co_return st;
    done(op, visit);
    co_return op.failure();
  }
  LineWait wait = LineWait::result(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  read_into(op, visit, call.root, address_in(visit.layout().result(visit.number)), call.recv);
  done_and_tell(op, visit);
  co_return op.failure();
}

/// The root tells every rank where its block goes, and each rank writes it there: all cores copy, not the root's alone.
/// T. Ma et al., ICPP 2011. Blocks that fit into a line lie there, and their ranks go on at once.
Co gather_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const Layout& layout = visit.layout();
  const auto me = static_cast<std::uint32_t>(op.rank());
  if (op.rank() != call.root) {
    Line& mine = layout.contribution(visit.number, me);
    const MPI_Count bytes = call.send.bytes();
    if (is_inline(bytes)) {
      op.copy(call.send, Op::view(mine.data, bytes));
    } else {
      LineWait wait = LineWait::result(op, visit);
      st = co_await wait;
      if (wait.failed()) co_return st;
      const auto* const places = reinterpret_cast<const std::uint64_t*>(
          layout.large_contribution(visit.number, static_cast<std::uint32_t>(call.root)));
      const Packed data = op.packed_in(call.send);
      write_to(op, visit, call.root, places[me], data.bytes, bytes);
    }
    sign(op, visit);
    wake_sleepers(op, visit);
    done(op, visit);
    co_return op.failure();
  }
  const int size = op.size();
  auto* const places = reinterpret_cast<std::uint64_t*>(layout.large_contribution(visit.number, me));
  auto* const blocks = reinterpret_cast<Packed*>(op.scratch(size * static_cast<MPI_Count>(sizeof(Packed))));
  for (Rank r = 0; r < size && blocks != nullptr; ++r) {
    const DataView block = call.recv_block(r);
    blocks[r] = r == op.rank() || is_inline(block.bytes()) ? Packed{} : op.packed_out(block);
    places[r] = address_of(blocks[r].bytes);
  }
  sign(op, visit);
  publish(op, visit);
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  for (Rank r = 0; r < size && blocks != nullptr; ++r) {
    const DataView block = call.recv_block(r);
    if (r == op.rank()) continue;
    if (is_inline(block.bytes())) {
      op.copy(Op::view(layout.contribution(visit.number, static_cast<std::uint32_t>(r)).data, block.bytes()), block);
    } else {
      op.unpack(blocks[r], block);
    }
  }
  done(op, visit);
  co_return op.failure();
}

/// The root tells every rank where its block lies, each rank copies it, and the root leaves when all have. T. Ma et al.,
/// ICPP 2011. Blocks that fit into a line lie there; with no other the root goes on at once.
Co scatter_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const Layout& layout = visit.layout();
  if (op.rank() != call.root) {
    const Line& mine = layout.contribution(visit.number, static_cast<std::uint32_t>(op.rank()));
    LineWait wait(op, visit, mine, 1);
    st = co_await wait;
    if (wait.failed()) co_return st;
    const MPI_Count bytes = call.recv.bytes();
    if (is_inline(bytes)) {
      op.copy(Op::view(mine.data, bytes), call.recv);
    } else {
      read_into(op, visit, call.root, address_in(mine), call.recv);
    }
    done_and_tell(op, visit);
    co_return op.failure();
  }
  bool others_read = false;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    Line& line = layout.contribution(visit.number, static_cast<std::uint32_t>(r));
    const DataView block = call.send_block(r);
    if (is_inline(block.bytes())) {
      op.copy(block, Op::view(line.data, block.bytes()));
    } else {
      const Packed data = op.packed_in(block);
      put_address(line, data.bytes);
      others_read = true;
    }
    line.number.store(visit.number, std::memory_order_release);
  }
  wake_sleepers(op, visit);
  if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
  if (others_read) {
    DoneWait readers(op, visit);
    st = co_await readers;
    if (readers.failed()) co_return st;
  }
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// Blocks of a scatter up to this size are left in the segment by the root: it copies them one by one, and goes on.
constexpr MPI_Count kSmallBlock = 8192;

/// Where a block lies in the root's memory, or goes.
struct Place {
  std::uint64_t address;
  MPI_Count bytes;
};
static_assert(sizeof(Place) <= kInline);

void put_place(Line& line, const void* memory, MPI_Count bytes) {
  const Place place{address_of(memory), bytes};
  std::memcpy(line.data, &place, sizeof place);
}
Place place_in(const Line& line) {
  Place place;
  std::memcpy(&place, line.data, sizeof place);
  return place;
}

/// The root's block for this rank.
void fetch(Op& op, const Visit& visit, Rank root, const Line& line, const DataView& to) {
  const Place place = place_in(line);
  const MPI_Count bytes = to.bytes();
  if (place.bytes != bytes) [[unlikely]]
    return op.fail(sizes_differ(root, place.bytes, op.rank(), bytes));
  read_into(op, visit, root, place.address, to);
}

}  // namespace

Stay reach_stay(const Op&, const Call&) { return Stay{0, 1, true}; }
Stay place_stay(const Op&, const Call&) { return Stay{static_cast<MPI_Count>(kInline) + 1, 1, true}; }

/// The root tells where its buffer lies, each rank copies it, and the root leaves when all have. As the single-copy
/// broadcast of T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted collective
/// intra-node MPI communication among multi-core and many-core CPUs", ICPP 2011.
Co bcast_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  if (op.rank() == call.root) {
    const Packed data = op.packed_in(call.recv);
    put_place(visit.layout().result(visit.number), data.bytes, data.size);
    publish(op, visit);
    DoneWait readers(op, visit);
    st = co_await readers;
    if (readers.failed()) co_return st;
    done(op, visit);
    co_return op.failure();
  }
  LineWait wait = LineWait::from(op, visit, visit.layout().result(visit.number), call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  fetch(op, visit, call.root, visit.layout().result(visit.number), call.recv);
  done_and_tell(op, visit);
  co_return op.failure();
}

/// The root tells every rank where its block goes, and each rank writes it there: all cores copy, not the root's alone.
/// T. Ma et al., ICPP 2011. A block that fits into its rank's place in the segment is left there, and the rank goes on
/// at once, as in our gather.
Co gather_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const Layout& layout = visit.layout();
  const auto me = static_cast<std::uint32_t>(op.rank());
  const auto room = static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())));
  if (op.rank() != call.root) {
    const MPI_Count bytes = call.send.bytes();
    if (bytes <= room) {
      op.copy(call.send, Op::view(operand(visit, bytes, me), bytes));
    } else {
      LineWait wait = LineWait::from(op, visit, visit.layout().result(visit.number), call.root);
      st = co_await wait;
      if (wait.failed()) co_return st;
      const auto* const places = reinterpret_cast<const Place*>(
          layout.large_contribution(visit.number, static_cast<std::uint32_t>(call.root)));
      const Packed data = op.packed_in(call.send);
      if (places[me].bytes != bytes) [[unlikely]]
        op.fail(sizes_differ(op.rank(), bytes, call.root, places[me].bytes));
      write_to(op, visit, call.root, places[me].address, data.bytes, bytes);
      layout.contribution(visit.number, me).data[0] = std::byte{op.failure().ok()};
    }
    layout.contribution(visit.number, me).number.store(visit.word_of_block(bytes), std::memory_order_release);
    wake_sleepers(op, visit);
    done(op, visit);
    co_return op.failure();
  }
  const int size = op.size();
  auto* const places = reinterpret_cast<Place*>(layout.large_contribution(visit.number, me));
  auto* const blocks = reinterpret_cast<Packed*>(op.scratch(size * static_cast<MPI_Count>(sizeof(Packed))));
  for (Rank r = 0; r < size && blocks != nullptr; ++r) {
    const DataView block = call.recv_block(r);
    blocks[r] = r == op.rank() || block.bytes() <= room ? Packed{} : op.packed_out(block);
    places[r] = Place{address_of(blocks[r].bytes), block.bytes()};
  }
  sign(op, visit);
  publish(op, visit);
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  LineWait wait = LineWait::blocks(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  for (Rank r = 0; r < size && blocks != nullptr; ++r) {
    const DataView block = call.recv_block(r);
    const auto from = static_cast<std::uint32_t>(r);
    if (r == op.rank()) continue;
    if (layout.contribution(visit.number, from).number.load(std::memory_order_relaxed) !=
        visit.word_of_block(block.bytes())) {
      op.fail(disagreement(visit, me));
    } else if (block.bytes() <= room) {
      op.copy(Op::view(operand(visit, block.bytes(), from), block.bytes()), block);
    } else {
      if (layout.contribution(visit.number, from).data[0] == std::byte{0}) op.fail(other_rank_failed());
      op.unpack(blocks[r], block);
    }
  }
  done(op, visit);
  co_return op.failure();
}

/// The root tells every rank where its block lies, each rank copies it, and the root leaves when all have. T. Ma et
/// al., ICPP 2011. Small blocks lie in the segment; with no other the root goes on at once, as in our scatter.
Co scatter_direct(Op& op, const Call& call, Visit visit) {
  Status st;
  const Layout& layout = visit.layout();
  const auto me = static_cast<std::uint32_t>(op.rank());
  const auto place = static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())));
  const MPI_Count room = place < kSmallBlock ? place : kSmallBlock;
  if (op.rank() != call.root) {
    const MPI_Count bytes = call.recv.bytes();
    LineWait wait = LineWait::from(op, visit, layout.contribution(visit.number, me), call.root);
    wait.word = visit.word_of_block(bytes);
    st = co_await wait;
    if (wait.failed()) co_return st;
    if (bytes <= room) {
      op.copy(Op::view(operand(visit, bytes, me), bytes), call.recv);
    } else {
      fetch(op, visit, call.root, layout.contribution(visit.number, me), call.recv);
    }
    done_and_tell(op, visit);
    co_return op.failure();
  }
  bool others_read = false;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const auto to = static_cast<std::uint32_t>(r);
    Line& line = layout.contribution(visit.number, to);
    const DataView block = call.send_block(r);
    const MPI_Count bytes = block.bytes();
    if (bytes <= room) {
      op.copy(block, Op::view(operand(visit, bytes, to), bytes));
    } else {
      const Packed data = op.packed_in(block);
      put_place(line, data.bytes, bytes);
      others_read = true;
    }
    line.number.store(visit.word_of_block(bytes), std::memory_order_release);
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

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

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

Stay reach_stay(const Op&, const Call&) { return Stay{0, 1, Stay::Reach::kNeeded}; }

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

}  // namespace ashlar::coll::shm

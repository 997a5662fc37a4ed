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

Stay reach_stay(const Op&, const Call&) { return Stay{0, 1, Stay::Reach::kNeeded}; }

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
  LineWait wait = LineWait::from(op, visit, visit.layout().result(visit.number), call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  read_into(op, visit, call.root, address_in(visit.layout().result(visit.number)), call.recv);
  done_and_tell(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

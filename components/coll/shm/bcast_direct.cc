#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"
#include "components/coll/shm/peer_memory.h"

namespace ashlar::coll::shm {
namespace {

/// The root's buffer, in the line of the result.
struct RootBuffer {
  std::uint64_t address;
  MPI_Count bytes;
};
static_assert(sizeof(RootBuffer) <= kInline);

void read_root(Op& op, const Ticket& ticket, Rank root, const DataView& to) {
  RootBuffer buffer;
  std::memcpy(&buffer, ticket.result_line().data, sizeof buffer);
  if (buffer.bytes != to.bytes()) [[unlikely]]
    return op.fail(sizes_differ(root, buffer.bytes, op.rank(), to.bytes()));
  read_into(op, ticket, root, buffer.address, to);
}

}  // namespace

Need bcast_direct_need(const Op&, const Call&) {
  return Need{.payloads = {.any = 0}, .single_copy = Need::SingleCopy::kAlways};
}

/// The root publishes the address of its buffer, each rank copies it, and the root leaves when all have. As the
/// single-copy broadcast of T. Ma, G. Bosilca, A. Bouteiller, B. Goglin, J. Squyres, J. Dongarra, "Kernel assisted
/// collective intra-node MPI communication among multi-core and many-core CPUs", ICPP 2011.
Co bcast_direct(Op& op, const Call& call, Ticket ticket) {
  Status st;
  if (op.rank() == call.root) {
    const Packed data = op.packed_in(call.recv);
    const RootBuffer buffer{.address = address_of(data.bytes), .bytes = data.size};
    std::memcpy(ticket.result_line().data, &buffer, sizeof buffer);
    publish_result_and_wake(ticket);
    DoneWait readers(ticket);
    st = co_await readers;
    if (readers.failed()) co_return st;
    done(ticket);
    co_return op.failure();
  }
  FlagWait wait = FlagWait::result_from(ticket, call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  read_root(op, ticket, call.root, call.recv);
  done_and_wake(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm

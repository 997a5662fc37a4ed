#include "framework/rma/cards.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/rma/neighbours.h"

namespace ashlar::rma {

Status exchange(Comm& comm, const Card& own, std::vector<Card>* cards) {
  cards->resize(static_cast<std::size_t>(comm.size));
  Datatype& byte = datatype::predefined(MPI_BYTE);
  return coll::allgather(&own, sizeof own, byte, cards->data(), sizeof own, byte, comm);
}

Status exchange_bytes(Comm& comm, const void* own, std::size_t bytes, void* all) {
  Datatype& byte = datatype::predefined(MPI_BYTE);
  const auto count = static_cast<MPI_Count>(bytes);
  return coll::allgather(own, count, byte, all, count, byte, comm);
}

Status exchange_parts(Comm& comm, const Part& own, std::vector<Part>* parts) {
  parts->resize(static_cast<std::size_t>(comm.size));
  Datatype& byte = datatype::predefined(MPI_BYTE);
  return coll::allgather(&own, sizeof own, byte, parts->data(), sizeof own, byte, comm);
}

Status map_part(const RmaWindow& window, Rank rank, std::byte** out) {
  const Area& area = window.areas[rank];
  *out = nullptr;
  if (area.size == 0 || window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC) return {};
  // Of contiguous shared memory a process's own part lies in another one's heap.
  if (rank == window.me && window.base != nullptr) {
    *out = static_cast<std::byte*>(window.base);
    return {};
  }
  const Neighbour& owner = neighbour_of(window, (area.flags & Card::kInFirstHeap) != 0 ? 0 : rank);
  if (owner.node != neighbour_of(window, window.me).node) return fail(MPI_ERR_OTHER, "rma.several_nodes");
  if (!area.in_heap()) return fail(MPI_ERR_OTHER, "rma.not_in_heap");
  const memory::MappedHeap* heap = nullptr;
  ASHLAR_TRY(memory::map_heap(owner.heap, &heap));
  *out = heap->find(area.address, area.size);
  return {};
}

Status all_agree(Comm& comm, bool yes, bool* all) {
  const int mine = yes ? 1 : 0;
  int least = 0;
  ASHLAR_TRY(coll::allreduce(&mine, &least, 1, datatype::predefined(MPI_INT), datatype::predefined_op(MPI_MIN), comm));
  *all = least != 0;
  return {};
}

Status failed_elsewhere(const Comm& comm, std::span<const Card> cards) {
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    if (cards[rank].failed != 0)
      return fail(cards[rank].failed, "rma.failed_elsewhere", {{"peer", rank}, {"communicator", comm.name}});
  }
  return {};
}

}  // namespace ashlar::rma

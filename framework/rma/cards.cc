#include "framework/rma/cards.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"

namespace ashlar::rma {

Status exchange(Comm& comm, const Card& own, std::vector<Card>* cards) {
  cards->resize(static_cast<std::size_t>(comm.size));
  Datatype& byte = datatype::predefined(MPI_BYTE);
  return coll::allgather(&own, sizeof own, byte, cards->data(), sizeof own, byte, comm);
}

Status exchange_parts(Comm& comm, const Part& own, std::vector<Part>* parts) {
  parts->resize(static_cast<std::size_t>(comm.size));
  Datatype& byte = datatype::predefined(MPI_BYTE);
  return coll::allgather(&own, sizeof own, byte, parts->data(), sizeof own, byte, comm);
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

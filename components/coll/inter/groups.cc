#include "components/coll/inter/groups.h"

#include <mpi.h>

#include <new>

namespace ashlar::coll::inter {

const Groups* Groups::of(Op& op) {
  Slot& slot = op.slot();
  if (slot.data == nullptr) {
    CommState& inside = *op.comm()->own_group;
    slot.data = new (std::nothrow) Groups{&inside.wire, &inside, op.comm()->comm.remote_size};
    slot.drop = [](void* data) { delete static_cast<Groups*>(data); };
  }
  if (slot.data == nullptr) op.fail(Status::fail(MPI_ERR_NO_MEM, "no memory for an intercommunicator's groups"));
  return static_cast<const Groups*>(slot.data);
}

}  // namespace ashlar::coll::inter

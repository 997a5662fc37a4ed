#include "components/coll/inter/groups.h"

#include <mpi.h>

#include <new>

#include "framework/base/failure.h"

namespace ashlar::coll::inter {

const Groups* Groups::of(Op& op) {
  Slot& slot = op.slot();
  if (slot.data == nullptr) {
    CommState& inside = *op.comm()->own_group;
    slot.data = new (std::nothrow) Groups{&inside.wire, &inside, op.comm()->comm.remote_size};
    slot.drop = [](void* data) { delete static_cast<Groups*>(data); };
  }
  if (slot.data == nullptr)
    op.fail(fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the groups of an intercommunicator"}}));
  return static_cast<const Groups*>(slot.data);
}

}  // namespace ashlar::coll::inter

#include "framework/comm/make.h"

#include <mpi.h>

#include <new>
#include <utility>

#include "framework/coll/api.h"
#include "framework/object/comm.h"
#include "framework/object/pool.h"
#include "framework/p2p/internal.h"
#include "framework/progress/lane.h"

namespace ashlar {
namespace {

constinit Pool<Comm> pool;

}  // namespace

void destroy(Comm* comm) {
  coll::detach(*comm);
  {
    const LaneGuard guard(comm->lane->lock);
    p2p::drop_context(*comm);
  }
  pool.put(comm);
}

namespace comm {

Surroundings surroundings;

std::uint64_t alive() { return pool.out(); }

Status make(Ref<Group> group, std::uint32_t context, Errhandler& handler, Comm* like, Comm** result) {
  Comm* comm = pool.take();
  if (!comm) return Status::fail(MPI_ERR_NO_MEM, "no memory for another communicator; %zu are alive", pool.out());
  comm->context = context;
  comm->rank = group->own_rank();
  comm->size = comm->remote_size = group->size();
  comm->lane = surroundings.lane_of(context);
  comm->errhandler = Ref<Errhandler>::share(handler);
  if (like) {
    comm->peer_table = like->peer_table;
  } else {
    // Entries are filled on first use: a communicator of many ranks costs a pointer for each.
    comm->peer_table = std::shared_ptr<Peer*[]>(new (std::nothrow) Peer*[static_cast<std::size_t>(comm->size)]());
    if (!comm->peer_table.get()) {
      pool.put(comm);
      return Status::fail(MPI_ERR_NO_MEM, "no memory for the peer table of a communicator of %d ranks", group->size());
    }
  }
  comm->peers = comm->peer_table.get();
  comm->remote_group = group;
  comm->local_group = std::move(group);
  if (const Status attached = coll::attach(*comm); !attached.ok()) {
    pool.put(comm);
    return attached;
  }
  *result = comm;
  return {};
}

}  // namespace comm
}  // namespace ashlar

#include "framework/comm/make.h"

#include <mpi.h>

#include <new>
#include <utility>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/engine.h"
#include "framework/comm/events.h"
#include "framework/comm/outside.h"
#include "framework/comm/pvars.h"
#include "framework/object/comm.h"
#include "framework/object/pool.h"
#include "framework/object/topology.h"
#include "framework/p2p/setup.h"
#include "framework/progress/context_lane.h"

namespace ashlar {
namespace {

constinit Pool<Comm> pool{PoolName::kComms};

Status set_peers(Comm& comm, Comm* like) {
  if (like) {
    comm.peer_table = like->peer_table;
  } else {
    // Entries are filled on first use: a communicator of many ranks costs a pointer for each.
    comm.peer_table = std::shared_ptr<Peer*[]>(new (std::nothrow) Peer*[static_cast<std::size_t>(comm.remote_size)]());
    if (!comm.peer_table.get())
      return fail(MPI_ERR_NO_MEM, "memory.ranks",
                  {{"what", "the peer table of a communicator"}, {"ranks", comm.remote_size}});
  }
  comm.peers = comm.peer_table.get();
  return {};
}

/// False: the lane is locked, maybe by this very thread, which then is in the middle of something else.
bool try_to_destroy(Comm* comm) {
  if (!comm->lane->lock.try_lock()) return false;
  p2p::drop_context(*comm);
  comm::tell_freed(*comm);
  comm->lane->lock.unlock();
  coll::detach(*comm);
  comm::let_go(*comm);
  release(comm->local_comm);
  pool.put(comm);
  return true;
}

}  // namespace

void destroy(Comm* comm) {
  if (try_to_destroy(comm)) return;
  comm::Engine::current().destroy_later(comm);
}

namespace comm {

namespace {

Status make_any(Ref<Group> local, Ref<Group> remote, bool inter, std::uint32_t context, Errhandler& handler, Comm* like,
                Comm** result) {
  Engine& engine = Engine::current();
  engine.destroy_waiting();
  Comm* comm = pool.take();
  if (!comm) return object::none_left("another communicator", alive());
  comm->context = context;
  comm->name.number(context);
  comm->inter = inter;
  comm->rank = local->own_rank();
  comm->size = local->size();
  comm->remote_size = remote->size();
  comm->lane = engine.services.lane_of(context);
  p2p::take_contexts(*comm->lane);
  comm->errhandler = Ref<Errhandler>::share(handler);
  Status made = set_peers(*comm, like);
  comm->local_group = std::move(local);
  comm->remote_group = std::move(remote);
  if (made.ok()) made = coll::attach(*comm);
  if (!made.ok()) {
    pool.put(comm);
    return made;
  }
  hold(*comm);
  comm::counters.made.fetch_add(1, std::memory_order_relaxed);
  if (inter) comm::counters.made_inter.fetch_add(1, std::memory_order_relaxed);
  if (is_given(context)) tell_made(*comm);
  *result = comm;
  return {};
}

}  // namespace

const Counter& alive() { return pool.out_level(); }

Status make(Ref<Group> group, std::uint32_t context, Errhandler& handler, Comm* like, Comm** result) {
  const Ref<Group> same = group;
  return make_any(std::move(group), same, false, context, handler, like, result);
}

Status make_inter(Ref<Group> local, Ref<Group> remote, std::uint32_t context, Errhandler& handler, Comm* like,
                  Comm** result) {
  // Both groups use the same second id: they have no process in common.
  Comm* local_comm = nullptr;
  Comm* const like_local = like && like->inter ? like->local_comm : like;
  ASHLAR_TRY(make(local, context | kOwnGroupContext, handler, like_local, &local_comm));
  Comm* const like_remote = like && like->inter ? like : nullptr;
  if (const Status made = make_any(std::move(local), std::move(remote), true, context, handler, like_remote, result);
      !made.ok()) {
    release(local_comm);
    return made;
  }
  (*result)->local_comm = local_comm;
  return {};
}

void give_context(Comm& comm, std::uint32_t context) {
  comm.context = context;
  comm.name.number(context);
  comm.lane = Engine::current().services.lane_of(context);
  p2p::take_contexts(*comm.lane);
  if (comm.inter) give_context(*comm.local_comm, context | kOwnGroupContext);
  if (is_given(context)) tell_made(comm);
}

}  // namespace comm
}  // namespace ashlar

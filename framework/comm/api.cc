#include "framework/comm/api.h"

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/engine.h"
#include "framework/comm/events.h"
#include "framework/comm/make.h"
#include "framework/comm/outside.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/group_api.h"
#include "framework/object/name.h"

namespace ashlar::comm {

Status size(Comm& comm, int* size) {
  *size = comm.size;
  return {};
}

Status rank(Comm& comm, int* rank) {
  *rank = comm.rank;
  return {};
}

Status remote_size(Comm& comm, int* size) {
  if (!comm.inter) return fail(MPI_ERR_COMM, "comm.not_inter", {{"argument", "comm"}, {"value", comm.name}});
  *size = comm.remote_size;
  return {};
}

Status remote_group(Comm& comm, Group** group) {
  if (!comm.inter) return fail(MPI_ERR_COMM, "comm.not_inter", {{"argument", "comm"}, {"value", comm.name}});
  *group = Ref<Group>(comm.remote_group).detach();
  return {};
}

Status test_inter(Comm& comm, int* flag) {
  *flag = comm.inter;
  return {};
}

Status compare(Comm& a, Comm& b, int* result) {
  if (&a == &b) {
    *result = MPI_IDENT;
    return {};
  }
  if (a.inter != b.inter) {
    *result = MPI_UNEQUAL;
    return {};
  }
  int local = MPI_UNEQUAL, remote = MPI_IDENT;
  ASHLAR_TRY(group::compare(*a.local_group, *b.local_group, &local));
  if (a.inter) ASHLAR_TRY(group::compare(*a.remote_group, *b.remote_group, &remote));
  const int worse = std::max(local, remote);  // the constants rise from IDENT to UNEQUAL
  static_assert(MPI_IDENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL);
  *result = worse == MPI_IDENT ? MPI_CONGRUENT : worse;
  return {};
}

Status group(Comm& comm, Group** group) {
  *group = Ref<Group>(comm.local_group).detach();
  return {};
}

Status get_name(Comm* comm, char* name, int* length) {
  copy_name(comm != nullptr ? comm->name.given() : "MPI_COMM_NULL", name, length);
  return {};
}

Status set_name(Comm& comm, const char* name) {
  comm.name.give(name);
  tell_named(comm);
  return {};
}

Status free(Comm** comm) {
  if ((*comm)->predefined != 0)
    return fail(MPI_ERR_COMM, "object.predefined", {{"argument", "comm"}, {"value", (*comm)->name}});
  ASHLAR_TRY(attribute::delete_all(**comm));
  Engine& engine = Engine::current();
  if (*comm == engine.parent) engine.parent = nullptr;
  coll::leave(**comm);
  release(*comm);
  *comm = nullptr;
  if (engine.outside != nullptr) engine.outside->part();
  return {};
}

}  // namespace ashlar::comm

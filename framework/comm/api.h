#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Errhandler;
class Group;
class Info;
class Request;
}  // namespace ashlar
/// The communicator calls of MPI-5.0, 7.4: arguments in the standard's order, handles resolved.
namespace ashlar::comm {

Status size(Comm& comm, int* size);
Status rank(Comm& comm, int* rank);
Status remote_size(Comm& comm, int* size);
Status remote_group(Comm& comm, Group** group);
Status test_inter(Comm& comm, int* flag);
Status compare(Comm& a, Comm& b, int* result);
Status group(Comm& comm, Group** group);
/// The null handle has its constant's name.
Status get_name(Comm* comm, char* name, int* length);
Status set_name(Comm& comm, const char* name);

/// Collective over `comm`.
Status dup(Comm& comm, Comm** result);
Status dup_with_info(Comm& comm, Info* info, Comm** result);
Status idup(Comm& comm, Comm** result, Request** request);
Status idup_with_info(Comm& comm, Info* info, Comm** result, Request** request);
Status set_info(Comm& comm, Info* info);
/// Local: a new info object with the hints in force.
Status get_info(Comm& comm, Info** info);
Status split(Comm& comm, int color, int key, Comm** result);
Status split_type(Comm& comm, int split_type, int key, Info* info, Comm** result);
Status create(Comm& comm, Group& group, Comm** result);
/// Collective over `group` alone.
Status create_group(Comm& comm, Group& group, int tag, Comm** result);
/// Collective over `local`; `peer` (nullptr: not valid) and `remote_leader` count at the local leader only.
Status intercomm_create(Comm& local, int local_leader, Comm* peer, int remote_leader, int tag, Comm** result);
/// Collective over both groups.
Status intercomm_merge(Comm& inter, int high, Comm** result);
/// Collective over `group` alone, which need not have a communicator. `stringtag` tells calls apart that are under way
/// together.
Status create_from_group(Group& group, const char* stringtag, Info* info, Errhandler& errhandler, Comm** result);
/// Collective over both groups; `remote` (nullptr: not valid) and `remote_leader` count at the local leader only.
Status intercomm_create_from_groups(Group& local, int local_leader, Group* remote, int remote_leader,
                                    const char* stringtag, Info* info, Errhandler& errhandler, Comm** result);
/// Marks for freeing: pending operations of this process complete first. Collective, does not wait.
Status free(Comm** comm);
/// The same after all operations that this process began on the communicator are complete. Collective.
Status disconnect(Comm** comm);
/// The communicator with the processes that started this one; nullptr: there are none, or it was freed.
Status get_parent(Comm** parent);

}  // namespace ashlar::comm

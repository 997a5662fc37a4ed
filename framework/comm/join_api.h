#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Info;
}  // namespace ashlar
/// The calls of MPI-5.0, chapter 11, that make processes known to each other that had no communicator: arguments in the
/// standard's order, handles resolved; what counts at the root alone is looked at there alone.
namespace ashlar::comm {

Status open_port(Info* info, char* port_name);
Status close_port(const char* port_name);
/// Collective over `comm`.
Status accept(const char* port_name, Info* info, int root, Comm& comm, Comm** result);
Status connect(const char* port_name, Info* info, int root, Comm& comm, Comm** result);
/// The two processes at the ends of the connected socket `fd`.
Status join(int fd, Comm** result);

/// Collective over `comm`. `errcodes` may be null.
Status spawn(const char* command, char** argv, int maxprocs, Info* info, int root, Comm& comm, Comm** result,
             int* errcodes);
Status spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs, const MPI_Info* infos, int root,
                      Comm& comm, Comm** result, int* errcodes);
/// Connects MPI_COMM_WORLD to those that started its processes, and listen at `port_name`.
Status connect_to_parent(const char* port_name, Comm& world);

Status publish_name(const char* service_name, Info* info, const char* port_name);
Status unpublish_name(const char* service_name, Info* info, const char* port_name);
Status lookup_name(const char* service_name, Info* info, char* port_name);

}  // namespace ashlar::comm

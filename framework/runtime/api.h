#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Errhandler;
class Group;
class Info;
class Request;
class Session;
}  // namespace ashlar
/// The environment calls of MPI-5.0, chapters 9 and 11: arguments in the standard's order, handles resolved.
namespace ashlar::runtime {

/// Makes predefined handles usable; the calls allowed outside init..finalize start with it. Idempotent, any thread.
void prepare();

Status init(int* argc, char*** argv);
Status init_thread(int* argc, char*** argv, int required, int* provided);
Status finalize();
Status initialized(int* flag);
Status finalized(int* flag);
Status query_thread(int* provided);
Status is_thread_main(int* flag);
/// Ends the processes of `comm`. Does not return.
Status abort(Comm& comm, int code);

/// Whether a session is open.
bool in_sessions();
Status session_init(Info* info, Errhandler& errhandler, Session** session);
Status session_finalize(Session** session);
Status session_get_info(Session& session, Info** info);
Status session_get_num_psets(Session& session, Info* info, int* count);
Status session_get_nth_pset(Session& session, Info* info, int n, int* length, char* name);
Status session_get_pset_info(Session& session, const char* name, Info** info);
Status group_from_session_pset(Session& session, const char* name, Group** group);

/// The process's buffer for buffered sends, and generalized requests: as p2p/buffer_api.h and p2p/completion.h have
/// them.
Status buffer_attach(void* buffer, MPI_Count size);
Status buffer_detach(void* buffer_addr, MPI_Count* size);
Status buffer_flush();
Status buffer_iflush(Request** request);
Status grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, Request** request);

/// The session's buffer for buffered sends: as p2p/buffer_api.h has it for communicators.
Status session_attach_buffer(Session& session, void* buffer, MPI_Count size);
Status session_detach_buffer(Session& session, void* buffer_addr, MPI_Count* size);
Status session_flush_buffer(Session& session);
Status session_iflush_buffer(Session& session, Request** request);

double wtime();
double wtick();
Status get_processor_name(char* name, int* length);
Status get_version(int* version, int* subversion);
Status get_library_version(char* version, int* length);
Status alloc_mem(MPI_Count size, Info* info, void* baseptr);
Status free_mem(void* base);
Status abi_get_version(int* major, int* minor);
Status abi_get_info(Info** info);
Status abi_set_fortran_booleans(int size, void* yes, void* no);
Status abi_get_fortran_booleans(int size, void* yes, void* no, int* is_set);
Status abi_set_fortran_info(Info* info);
Status abi_get_fortran_info(Info** info);
Status pcontrol(int level);
/// A new info object: for each type of hardware, whether this process is restricted to one instance of it.
Status get_hw_resource_info(Info** info);

}  // namespace ashlar::runtime

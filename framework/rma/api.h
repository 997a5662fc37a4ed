#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Datatype;
class Group;
class Info;
class ReduceOp;
class Request;
class Window;
}  // namespace ashlar

/// One-sided communication (MPI-5.0, chapter 12): arguments in the standard's order, handles resolved, datatypes
/// committed, counts and sizes not negative. Any thread that may call MPI; one window's synchronization calls are made
/// by one thread at a time.
namespace ashlar::rma {

// --- windows: collective over `comm`, but for attach and detach -----------------------------------------------------
/// Errors: MPI_ERR_COMM (an intercommunicator), MPI_ERR_DISP, MPI_ERR_INFO_VALUE, MPI_ERR_NO_MEM; a failure of one
/// process is a failure on all.
Status win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, Window** win);
Status win_allocate(MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, void* baseptr, Window** win);
/// Also MPI_ERR_RMA_SHARED: the processes cannot share memory.
Status win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, void* baseptr, Window** win);
Status win_create_dynamic(Info* info, Comm& comm, Window** win);
/// Local. MPI_ERR_RMA_ATTACH: the memory is attached already, in part or whole; or is not.
Status win_attach(Window& win, void* base, MPI_Aint size);
Status win_detach(Window& win, const void* base);
/// Waits until no process accesses the memory of this one any more.
Status win_free(Window** win);

Status win_shared_query(Window& win, int rank, MPI_Aint* size, MPI_Count* disp_unit, void* baseptr);
Status win_get_group(Window& win, Group** group);
Status win_set_info(Window& win, Info* info);
Status win_get_info(Window& win, Info** info);

// --- synchronization: MPI_ERR_RMA_SYNC where the epochs of the process do not allow the call ------------------------
Status win_fence(int assert, Window& win);
Status win_post(Group& group, int assert, Window& win);
Status win_start(Group& group, int assert, Window& win);
Status win_complete(Window& win);
Status win_wait(Window& win);
Status win_test(Window& win, int* flag);
Status win_lock(int lock_type, int rank, int assert, Window& win);
Status win_unlock(int rank, Window& win);
Status win_lock_all(int assert, Window& win);
Status win_unlock_all(Window& win);
Status win_flush(int rank, Window& win);
Status win_flush_all(Window& win);
Status win_flush_local(int rank, Window& win);
Status win_flush_local_all(Window& win);
Status win_sync(Window& win);

// --- operations: never wait for the target. MPI_ERR_RMA_SYNC without an epoch, MPI_ERR_RMA_RANGE beyond the window --
Status put(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win);
Status get(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
           Datatype& target_type, Window& win);
Status accumulate(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
                  Datatype& target_type, ReduceOp& op, Window& win);
/// `type` is a null pointer where the handle is not a datatype: with MPI_NO_OP it does not count.
Status get_accumulate(const void* origin, MPI_Count count, Datatype* type, void* result, MPI_Count result_count,
                      Datatype& result_type, int rank, MPI_Aint disp, MPI_Count target_count, Datatype& target_type,
                      ReduceOp& op, Window& win);
Status fetch_and_op(const void* origin, void* result, Datatype& type, int rank, MPI_Aint disp, ReduceOp& op,
                    Window& win);
Status compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int rank, MPI_Aint disp,
                        Window& win);
Status rput(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request);
Status rget(void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
            Datatype& target_type, Window& win, Request** request);
Status raccumulate(const void* origin, MPI_Count count, Datatype& type, int rank, MPI_Aint disp, MPI_Count target_count,
                   Datatype& target_type, ReduceOp& op, Window& win, Request** request);
Status rget_accumulate(const void* origin, MPI_Count count, Datatype* type, void* result, MPI_Count result_count,
                       Datatype& result_type, int rank, MPI_Aint disp, MPI_Count target_count, Datatype& target_type,
                       ReduceOp& op, Window& win, Request** request);

}  // namespace ashlar::rma

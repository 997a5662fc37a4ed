#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Window;
}  // namespace ashlar
/// Attribute caching on communicators and windows (MPI-5.0, 7.7); datatypes have theirs in their own room.
namespace ashlar::attribute {

Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                          void* extra_state);
Status comm_free_keyval(int* keyval);
Status comm_set(Comm& comm, int keyval, void* value);
Status comm_get(Comm& comm, int keyval, void* value, int* flag);
Status comm_delete(Comm& comm, int keyval);

Status win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                         void* extra_state);
Status win_free_keyval(int* keyval);
Status win_set(Window& window, int keyval, void* value);
Status win_get(Window& window, int keyval, void* value, int* flag);
Status win_delete(Window& window, int keyval);

/// For communicator constructors: calls the copy functions of `from` in the order the attributes were set; stops at the
/// first that fails and returns its code as the class.
Status copy_all(Comm& from, Comm& to);
/// Calls the delete functions in the reverse order of setting; stops at the first that fails.
Status delete_all(Comm& comm);
/// For the room of windows: the first thing that MPI_Win_free does (MPI-5.0, 7.7.3).
Status delete_all(Window& window);

/// Values of the predefined attributes of MPI_COMM_WORLD; the runtime fills them.
struct Predefined {
  int tag_ub = 0, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global = 0, appnum = 0, universe_size = 0,
      last_used_code = MPI_ERR_LASTCODE;
  bool has_appnum = false, has_universe_size = false;
};
extern Predefined predefined;

}  // namespace ashlar::attribute

#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/rma/window.h"

namespace ashlar {
class Info;
}
namespace ashlar::rma {

/// What a constructor is asked for.
struct Wanted {
  const char* call;
  int flavor;  // MPI_WIN_FLAVOR_CREATE ...
  void* base;  // of MPI_Win_create
  MPI_Aint size;
  MPI_Aint disp_unit;
  Info* info;
  bool checked = true;  // by check.rma
};

/// Makes a window; collective over `comm`. On failure there is none, on no process.
Status make(Comm& comm, const Wanted& wanted, RmaWindow** out);
/// Frees what the window has in this process. No process uses it any more.
void unmake(RmaWindow* window);

/// Memory of a window's own: of the heap, else private. `zeroed` memory of the heap is all zero.
Status take_memory(RmaWindow& window, std::uint64_t bytes, std::uint64_t alignment, bool heap_only, void** out);

}  // namespace ashlar::rma

#pragma once
#include <mpi.h>

#include <atomic>

/// Whether the tools interface is in use: between the first MPI_T_init_thread and the last MPI_T_finalize.
namespace ashlar::mpit {

extern constinit std::atomic<int> uses;
inline bool in_use() { return uses.load(std::memory_order_acquire) > 0; }

}  // namespace ashlar::mpit

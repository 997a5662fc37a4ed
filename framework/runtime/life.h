#pragma once
#include <mutex>

namespace ashlar::runtime {

/// Held while the library begins or ends: MPI_Init, MPI_Finalize, and the same of sessions.
extern std::mutex life_mutex;

}  // namespace ashlar::runtime

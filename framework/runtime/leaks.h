#pragma once

namespace ashlar {
class Process;
}
namespace ashlar::runtime {

/// What can no longer be given back when a user of the library ends.
enum class Ending {
  kWorld,     // MPI_Finalize: everything should have been
  kSessions,  // the last session: datatypes, operations, infos, keys and handlers may serve the next one
  kProcess    // and now there will be none
};

/// check.leaks: tells which handles the user still holds, once for all ranks that hold the same. kWorld: collective
/// over MPI_COMM_WORLD.
void report_leaks(Process& process, Ending ending);

}  // namespace ashlar::runtime

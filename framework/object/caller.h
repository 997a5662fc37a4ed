#pragma once

namespace ashlar {

/// Whether the MPI call that runs on this thread is one of Fortran: through libmpifort_abi, whose functions call those
/// of C, or a tool between the two. Walks the stack, so for failures alone.
bool called_from_fortran() noexcept;

}  // namespace ashlar

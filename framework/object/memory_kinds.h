#pragma once
#include <string>
#include <string_view>

/// Memory allocation kinds (MPI-5.0, 11.4.3): lists such as "system,mpi:alloc_mem" of kinds with restrictors, the
/// values of the info keys mpi_memory_alloc_kinds and mpi_assert_memory_alloc_kinds.
namespace ashlar::memory_kinds {

/// What memory may be passed to calls of a session (or of the world) that asked for `wanted`: the kinds asked for that
/// this library knows, in that order, and those that it takes whether asked or not.
std::string supported(std::string_view wanted);

/// Whether each kind of `list` is in `of`, perhaps there with fewer restrictors.
bool within(std::string_view list, std::string_view of);

}  // namespace ashlar::memory_kinds

#pragma once
#include <atomic>
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/base/status.h"

/// How many objects of one kind a process may have (object.limit). Info objects and error handlers are made before
/// MPI_Init as well, and then the built-in limit holds.
namespace ashlar::object {

extern constinit std::atomic<std::size_t> limit;

/// The failure of a call for which the pool of `level` gave no object: it is full, or there is no memory for `what`.
[[gnu::cold]] Status none_left(const char* what, const Counter& level);

}  // namespace ashlar::object

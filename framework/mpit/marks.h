#pragma once
#include <cstdint>

#include "framework/mpit/pvar_handle.h"

/// High-water marks of sessions. The library keeps one mark for a level, the most since it was last set back. When a
/// session starts to watch, the mark goes into the handles that watch already, and is set back to the level: from then
/// on the most that a handle has seen is the greater of its own mark and the library's. So a rise of a level costs the
/// same with any number of sessions. Any thread; under a mutex, so not for signal handlers.
namespace ashlar::mpit::marks {

/// The handle watches from now on, from the mark `from` or the level, whichever is more.
void start(PvarHandle& handle, std::uint64_t from);
/// What it has seen so far.
std::uint64_t most(const PvarHandle& handle);
/// It watches no more; what it has seen.
std::uint64_t stop(PvarHandle& handle);
/// What it has seen until now, and it starts anew from `from`.
std::uint64_t restart(PvarHandle& handle, std::uint64_t from);
/// The level now, of a variable that is a mark.
std::uint64_t level(const PvarHandle& handle);

}  // namespace ashlar::mpit::marks

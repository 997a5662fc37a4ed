#pragma once
#include <atomic>
#include <cstdint>

namespace ashlar::progress {

/// Operations of this process whose end a thread of the library tells by raise_from_outside(). While there are any,
/// sleeping waits listen to `Lane::wake_word` although the program has one thread: nothing else would wake them.
extern constinit std::atomic<std::uint32_t> raised_from_outside;

}  // namespace ashlar::progress

#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar {

using Rank = int;  // position in a communicator's group
using Tag = int;
using Bytes = std::size_t;
using PeerId = std::uint32_t;  // index of a process in this process's table; world ranks come first

inline constexpr std::size_t kCacheLine = 64;

}  // namespace ashlar

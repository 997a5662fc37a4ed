#pragma once
#include <cstdint>
#include <vector>

namespace ashlar {
class Group;
}
namespace ashlar::comm {

/// What every rank says of itself in a split: colour and key, in one word. Colours are at least 0, or MPI_UNDEFINED.
inline std::int64_t choice_word(int color, int key) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(color)) << 32 |
                                   static_cast<std::uint32_t>(key));
}
inline int choice_color(std::int64_t word) { return static_cast<int>(word >> 32); }

/// The members of `group` that chose `color`, by their words in rank order: ordered by key and then by rank in `group`.
/// nullptr: no memory.
Group* members_of(const Group& group, const std::vector<std::int64_t>& choices, int color);

/// The colour with which a rank announces that there is more to exchange before a split by MPI_COMM_TYPE_HW_UNGUIDED.
/// Ranks that pass MPI_UNDEFINED as the type learn from it what the others do.
inline constexpr int kUnguidedMark = -2;

}  // namespace ashlar::comm

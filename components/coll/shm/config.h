#pragma once
#include <cstdint>

namespace ashlar::coll::shm {

/// Parameters coll.shm.*; the rows are in component.cc.
struct Config {
  std::uint64_t piece;
  bool single_copy;
  std::uint64_t small_block;
  std::uint64_t blocks;
  std::uint64_t movers;
  std::uint64_t far_copy;
};

/// The component's, from open() on.
const Config& configuration();
/// Tells, the first time, how many ranks copy at a time, and why.
void record_movers(std::uint32_t movers, std::uint32_t ranks);
/// Tells of a segment for so many ranks where its places are not as large as the parameters say.
void record_places(std::uint32_t ranks);
/// Room of one rank's place in the segment: a piece of a large payload, less where many ranks share a segment.
std::uint64_t place_bytes(std::uint32_t ranks);
/// The same for the blocks of an exchange; not less.
std::uint64_t blocks_bytes(std::uint32_t ranks);

}  // namespace ashlar::coll::shm

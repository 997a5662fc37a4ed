#pragma once
#include <cstdint>

namespace ashlar::coll::shm {

/// Parameters coll.shm.*; the rows are in component.cc.
struct Config {
  std::uint64_t piece;
  bool single_copy;
};

/// The component's, from open() on.
const Config& configuration();
/// Room of one rank's place in the segment: a piece of a large payload, less where many ranks share a segment.
std::uint64_t place_bytes(std::uint32_t ranks);

}  // namespace ashlar::coll::shm

#pragma once
#include <cstdint>

namespace ashlar::coll::shm {

/// Parameters coll.shm.*; the rows are in component.cc.
struct Config {
  std::uint64_t max_bytes;
};

/// The component's, from open() on.
const Config& configuration();

}  // namespace ashlar::coll::shm

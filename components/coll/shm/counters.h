#pragma once
#include <cstdint>

#include "framework/base/shared_count.h"

namespace ashlar::coll::shm {

/// Performance variables coll.shm.*; the rows are in component.cc.
struct Counters {
  std::uint64_t copies = 0;  // system calls that copy from or to another rank's memory
  std::uint64_t turns = 0;   // to copy, of this process
  std::uint64_t turns_waited_for = 0;
};

Counters& counters();

}  // namespace ashlar::coll::shm

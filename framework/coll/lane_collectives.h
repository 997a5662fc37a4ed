#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/base/list.h"
#include "framework/base/slab.h"
#include "framework/coll/flight.h"
#include "framework/coll/mismatch.h"
#include "framework/coll/pvars.h"

namespace ashlar::coll {

class Engine;

/// What the collectives of one lane share: the object behind Lane::coll. The engine owns it; the lane's lock guards it.
struct LaneCollectives {
  explicit LaneCollectives(Engine& owner);

  Engine& engine;
  std::uint64_t compare_after;                   // ns: coll.compare_after
  Slab<Flight> flights{PoolName::kCollectives};  // at most coll.request_limit
  List<CommState> states;                        // of the lane's communicators that have called a collective
  FreedComms freed;
  Counters counters;
  std::vector<EarlyReport> early;  // at most EarlyReport::kMost; beyond that many the oldest is dropped
};

}  // namespace ashlar::coll

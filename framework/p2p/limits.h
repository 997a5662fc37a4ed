#pragma once
#include <cstdint>

#include "framework/progress/peer.h"

/// From which size a message over a link takes which protocol: decided once for each link, with a decision record.
namespace ashlar::p2p {

/// Sets `link.eager_limit`, and records what was decided and why. Set-up path.
[[gnu::cold]] void decide_limits(Lane& lane, Link& link) ASHLAR_REQUIRES(lane.lock);

/// Records that the peer throttles `link`: the first time on a lane, because throttling comes and goes with the
/// traffic.
[[gnu::cold]] void record_throttle(Lane& lane, const Link& link) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p

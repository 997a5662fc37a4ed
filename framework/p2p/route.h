#pragma once
#include <span>

#include "framework/progress/lane.h"

namespace ashlar::p2p {

/// Makes several attached lanes of one process work together. Before traffic, by the one thread there is.
/// Processes of a job need not have the same number of lanes: one without threads has a single one, and can only send
/// to the first lane of others. What arrives there for another lane is handed over to it, in order. Processes that both
/// have several lanes never come here: each lane talks to its like.
void join_lanes(std::span<Lane* const> lanes);

}  // namespace ashlar::p2p

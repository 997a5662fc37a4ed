#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/progress/lane.h"

namespace ashlar::p2p {

/// Messages of one sender, tag and communicator that have come and that no receive has taken.
struct Unreceived {
  std::uint32_t context;  // Comm::context
  Rank source;
  Tag tag;
  std::size_t messages = 0;
  std::uint64_t bytes = 0;
};

/// Appends what the program's sends have brought to this lane, in the order of the first arrivals; messages of
/// collectives are left out. At most `limit` rows in all: what is beyond is counted in `*beyond`.
void collect_unreceived(Lane& lane, std::size_t limit, std::vector<Unreceived>* rows, std::size_t* beyond)
    ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p

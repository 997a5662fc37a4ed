#pragma once
#include <algorithm>
#include <cstdint>

#include "framework/object/comm.h"
#include "framework/progress/peer.h"

namespace ashlar::p2p {

/// Bytes of the largest message that is sent eagerly on `comm`: what was set for it, as far as the transport takes it.
inline std::uint32_t eager_limit(const Link& link, const Comm& comm) {
  if (comm.eager_limit == 0) [[likely]]
    return link.eager_limit;
  return std::max(link.endpoint->max_short, std::min(comm.eager_limit, link.endpoint->max_bcopy));
}

}  // namespace ashlar::p2p

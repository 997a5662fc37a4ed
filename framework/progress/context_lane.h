#pragma once
#include <cstdint>

#include "framework/progress/lane.h"

namespace ashlar {

/// The context of an intercommunicator's own group (Comm::local_comm) is that of the intercommunicator with this bit:
/// collectives of both are parts of each other and hold one lock, so both are on one lane in every process.
inline constexpr std::uint32_t kOwnGroupContext = 0x80000000;

/// The lane of a communicator by its context, whatever that is the context of.
inline unsigned lane_of_context(std::uint32_t context, unsigned lanes) {
  return lane_of(context & ~kOwnGroupContext, lanes);
}

}  // namespace ashlar

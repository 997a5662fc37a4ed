#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/event.h"

/// What slabs tell tools (docs/tools.md): that one grew, or met its limit.
namespace ashlar {

/// Which pool a slab is, for these events. The words are in pool_events.cc, in this order.
enum class PoolName : std::uint8_t {
  kAnother,
  kReceives,
  kSends,
  kPulls,
  kControls,
  kArrivals,
  kMessages,
  kPairs,
  kGeneralized,
  kFlushes,
  kPartSends,
  kPartReceives,
  kKeptOffers,
  kCollectives,
  kComms,
  kDatatypes,
  kGroups,
  kInfos,
  kErrhandlers,
  kOperations,
  kSessions,
  kDuplications,
  kWindows,
  kRmaRequests,
  kFiles,
  kIoRequests
};

extern constinit event::Type pool_grown, pool_limit_met;

/// `capacity` objects now have storage; `limit` are the most.
[[gnu::cold]] void tell_grown(PoolName pool, std::size_t capacity, std::size_t limit);
[[gnu::cold]] void tell_limit_met(PoolName pool, std::size_t limit);

}  // namespace ashlar

#pragma once
#include <cstdint>

#include "framework/io/cost.h"
#include "framework/io/facts.h"

/// How the data of an access gets to the file: the cheapest way by estimate. Pure arithmetic, so that processes with
/// the same facts choose alike.
namespace ashlar::io {

/// What an access moves; of a collective one, what all processes do.
struct Demand {
  bool writes = false;
  double bytes = 0, pieces = 0;
  double hull = 0;   // from the first byte to the last
  double hulls = 0;  // the sum of each process's
  // The most of one process.
  double most_bytes = 0, most_pieces = 0, most_hull = 0;
};

/// Windows of the ways.
struct Windows {
  double sieve = 1;        // bytes of one process's
  double together = 1;     // of one that processes combine
  double aggregators = 0;  // that move these; 0: none do
  double rounds = 0;
  bool far = false;  // filled by messages between hosts
};

struct Estimates {
  double list = 0, sieve = 0, two_phase = cost::kForbidden;  // nanoseconds
  double mapped = cost::kForbidden;                          // where the range stays mapped
};

/// A process's own access: `two_phase` is left out.
Estimates estimate_alone(const Demand& one, double window, const Rates& rates);
/// A collective one; `mapped`: where all its ranges stay mapped.
Estimates estimate_together(const Demand& all, const Windows& windows, const Rates& rates);

/// Which ways are open; pieces one by one always are.
struct Open {
  bool sieve = false, two_phase = false, mapped = false;
};
Way cheapest(const Estimates& costs, const Open& open);

}  // namespace ashlar::io

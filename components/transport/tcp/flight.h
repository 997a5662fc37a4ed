#pragma once
#include <cstdint>

namespace ashlar::tcp {

/// How much of what a connection sends is under way at a time. The system lets that grow to several MiB on any path. A
/// short path is full with much less; what is beyond that waits in the send buffer, and has left the caches when the
/// peer reads it.
class Flight {
 public:
  /// Bounds it to `most` bytes where the path is so short that these fill it, and lets the system choose again where it
  /// has become longer; 0: never bounded. `now`: ns; the path is looked at when the last look is some time ago.
  /// Returns whether that has changed.
  bool fit(int socket, std::uint64_t most, std::uint64_t now);
  bool bounded() const { return bounded_; }
  /// Of the path when it was looked at last; 0: it was not.
  double round_trip_ns() const { return round_trip_ns_; }

 private:
  std::uint64_t next_look_ = 0;
  double round_trip_ns_ = 0;
  bool bounded_ = false;
};

}  // namespace ashlar::tcp

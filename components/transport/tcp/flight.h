#pragma once
#include <cstdint>

namespace ashlar::tcp {

/// transport.tcp.in_flight where it is 0: as many bytes as a processor's second-level cache has, within limits. 0 of
/// `cache`: the system does not tell.
std::uint64_t flight_in_cache(std::uint64_t cache);

/// How much of what a connection sends is under way at a time, and in what pieces it leaves. The system lets the first
/// grow to several MiB on any path. A short path is full with much less; what is beyond that waits in the send buffer,
/// and has left the caches when the peer reads it.
class Flight {
 public:
  /// Bounds it to `most` bytes where the path is so short that these fill it, and lets the system choose again where it
  /// has become longer; kNoBound: never bounded. `now`: ns; the path is looked at when the last look is some time ago.
  /// Returns whether that has changed.
  bool fit(int socket, std::uint64_t most, std::uint64_t now);
  bool bounded() const { return bounded_; }
  /// Of the path when it was looked at last; 0: it was not.
  double round_trip_ns() const { return round_trip_ns_; }
  double bytes_per_ns() const { return bytes_per_ns_; }
  /// Bytes that other messages may have to wait for.
  std::uint64_t piece() const;

 private:
  std::uint64_t next_look_ = 0;
  double round_trip_ns_ = 0, bytes_per_ns_ = 0;
  bool bounded_ = false;
};

}  // namespace ashlar::tcp

#include "components/transport/tcp/flight.h"

#include <algorithm>

#include "components/transport/tcp/config.h"
#include "framework/base/ip_path.h"
#include "framework/base/ip_socket.h"

namespace ashlar::tcp {
namespace {

// Of the fastest path that is filled: 50 Gbit/s. What the system acknowledges late is under way twice as long.
constexpr double kBytesPerNs = 6.25, kRoundTrips = 2;
// A new path may not have been idle when its round trips were measured, and has not shown how fast it is.
constexpr std::uint64_t kLook = 50'000'000;
constexpr std::uint64_t kLeastFlight = 256 << 10, kMostFlight = 2 << 20, kUnknownFlight = 1 << 20;
// Each piece has a head that the reader reads apart, so longer ones are faster.
constexpr std::uint64_t kLeastPiece = 256 << 10, kMostPiece = 4 << 20, kPieceStep = 64 << 10;
constexpr double kPieceNs = 250'000;

}  // namespace

std::uint64_t flight_in_cache(std::uint64_t cache) {
  return cache == 0 ? kUnknownFlight : std::clamp(cache, kLeastFlight, kMostFlight);
}

bool Flight::fit(int socket, std::uint64_t most, std::uint64_t now) {
  if (now < next_look_) [[likely]]
    return false;
  next_look_ = now + kLook;
  ip::PathInfo path;
  if (!ip::read_path_info(socket, &path)) path = {};
  round_trip_ns_ = path.round_trip_ns;
  bytes_per_ns_ = path.bytes_per_ns;
  const bool is_short =
      most != kNoBound && round_trip_ns_ > 0 && kRoundTrips * round_trip_ns_ * kBytesPerNs <= static_cast<double>(most);
  const bool changes = is_short != bounded_ && ip::bound_send_buffer(socket, is_short ? most : 0);
  if (changes) bounded_ = is_short;
  return changes;
}

std::uint64_t Flight::piece() const {
  const double bytes = std::clamp(bytes_per_ns_ * kPieceNs, double{kLeastPiece}, double{kMostPiece});
  return static_cast<std::uint64_t>(bytes) / kPieceStep * kPieceStep;
}

}  // namespace ashlar::tcp

#include "components/transport/tcp/flight.h"

#include "framework/base/ip_path.h"
#include "framework/base/ip_socket.h"

namespace ashlar::tcp {
namespace {

// Of the fastest path that is filled: 50 Gbit/s. What the system acknowledges late is under way twice as long.
constexpr double kBytesPerNs = 6.25, kRoundTrips = 2;
// A new path may not have been idle when its round trips were measured; one that is short seldom grows longer.
constexpr std::uint64_t kLookWhileLong = 50'000'000, kLookWhileShort = 1'000'000'000;

}  // namespace

bool Flight::fit(int socket, std::uint64_t most, std::uint64_t now) {
  if (most == 0 || now < next_look_) [[likely]]
    return false;
  ip::PathInfo path;
  bool is_short = false;
  if (ip::read_path_info(socket, &path) && path.round_trip_ns > 0) {
    round_trip_ns_ = path.round_trip_ns;
    is_short = kRoundTrips * path.round_trip_ns * kBytesPerNs <= static_cast<double>(most);
  }
  const bool changes = is_short != bounded_ && ip::bound_send_buffer(socket, is_short ? most : 0);
  if (changes) bounded_ = is_short;
  next_look_ = now + (bounded_ ? kLookWhileShort : kLookWhileLong);
  return changes;
}

}  // namespace ashlar::tcp

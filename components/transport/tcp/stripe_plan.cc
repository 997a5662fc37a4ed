#include "components/transport/tcp/stripe_plan.h"

#include <algorithm>
#include <limits>

namespace ashlar::tcp {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Of what has been measured, for what has not.
double mean_speed(std::span<const RailLoad> rails) {
  double sum = 0;
  int count = 0;
  for (const RailLoad& rail : rails) {
    if (!rail.open || rail.speed <= 0) continue;
    sum += rail.speed;
    ++count;
  }
  return count != 0 ? sum / count : 1;
}

double speed_of(const RailLoad& rail, double mean) { return rail.speed > 0 ? rail.speed : mean; }

double end_of_next(const RailLoad& rail, std::uint64_t stripe, double mean) {
  return static_cast<double>(rail.due + stripe) / speed_of(rail, mean);
}

/// When the rails but `one` would have brought all that is left. Each of them brings whole stripes.
double end_without(std::span<const RailLoad> rails, const RailLoad& one, std::uint64_t stripe, std::uint64_t left,
                   double mean) {
  double bytes = static_cast<double>(left), speed = 0, soonest = kNever;
  for (const RailLoad& rail : rails) {
    if (!rail.open || &rail == &one) continue;
    bytes += static_cast<double>(rail.due);
    speed += speed_of(rail, mean);
    soonest = std::min(soonest, end_of_next(rail, stripe, mean));
  }
  return speed > 0 ? std::max(bytes / speed, soonest) : kNever;
}

}  // namespace

int choose_rail(std::span<const RailLoad> rails, std::uint64_t stripe, std::uint64_t left, std::uint64_t window) {
  const double mean = mean_speed(rails);
  int best = kNoRail;
  double best_end = kNever;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const RailLoad& rail = rails[i];
    const bool has_room = rail.due == 0 || (rail.speed > 0 && rail.due + stripe <= window);
    if (!rail.open || !has_room) continue;
    const double end = end_of_next(rail, stripe, mean);
    if (end >= best_end || end > end_without(rails, rail, stripe, left, mean)) continue;
    best = static_cast<int>(i);
    best_end = end;
  }
  return best;
}

}  // namespace ashlar::tcp

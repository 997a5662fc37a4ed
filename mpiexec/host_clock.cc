#include "mpiexec/host_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ashlar::mpiexec {
namespace {

// What two meetings say of the rate is worth something when it is known better than that no clock is so wrong.
constexpr double kMostDrift = 1e-4;

double apart(std::uint64_t a, std::uint64_t b) { return static_cast<double>(static_cast<std::int64_t>(a - b)); }

}  // namespace

void HostClock::meet() {
  if (meetings_ < 2) ++meetings_;
  if (meetings_ == 2) last_ = {};
}

void HostClock::add(std::uint64_t asked, const Moment& there, std::uint64_t heard) {
  Meeting& now = meetings_ < 2 ? first_ : last_;
  counter_ = there;
  const std::uint64_t error = (heard - asked + 1) / 2;
  if (heard < asked || error >= now.error) return;
  now = {.there = there.ns, .here = asked + (heard - asked) / 2, .error = error};
}

ashlar_tool_host_clock HostClock::facts() const {
  if (!first_.held()) return {};
  const Meeting& second = last_.held() ? last_ : first_;
  const Meeting& base = first_.error <= second.error ? first_ : second;
  const Meeting& other = first_.error <= second.error ? second : first_;
  const double span = apart(other.there, base.there);
  double rate = 1;
  if (static_cast<double>(base.error + other.error) < kMostDrift * std::abs(span))
    rate = apart(other.here, base.here) / span;
  // A straight line through one meeting goes past the other one.
  const double past = std::abs(apart(other.here, base.here) - span * rate);
  const double error = std::max(static_cast<double>(base.error), static_cast<double>(other.error) + past);
  return {.rate = rate,
          .there_ns = base.there,
          .here_ns = base.here,
          .error_ns = static_cast<std::uint64_t>(std::ceil(error)),
          .counter = {.ticks = counter_.ticks, .ns = counter_.ns}};
}

}  // namespace ashlar::mpiexec

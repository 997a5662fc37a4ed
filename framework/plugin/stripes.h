#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

// A large message that is read in stripes over several rails: what is left of it, what is known of each rail, and which
// rail the next stripe goes to. The same for all transports with rails.
namespace ashlar::plugin {

inline constexpr std::uint64_t kStripesDue = 4;  // over one rail at one time

/// A part of a large message.
struct Range {
  std::uint64_t offset, length;
};

/// What of a message has still to be asked for: what lies behind all that was, and what was asked for in vain.
class UnaskedRanges {
 public:
  explicit UnaskedRanges(std::uint64_t length) : length_(length) {}

  bool empty() const { return asked_ == length_ && again_.empty(); }
  std::uint64_t bytes() const {
    std::uint64_t sum = length_ - asked_;
    for (const Range& range : again_) sum += range.length;
    return sum;
  }
  /// How long the next part is, of at most so many bytes.
  std::uint64_t next_length(std::uint64_t most) const {
    return std::min(most, again_.empty() ? length_ - asked_ : again_.front().length);
  }
  /// Takes it.
  Range take(std::uint64_t length) {
    if (again_.empty()) {
      asked_ += length;
      return {.offset = asked_ - length, .length = length};
    }
    Range& first = again_.front();
    const Range range = {.offset = first.offset, .length = length};
    first.offset += length;
    first.length -= length;
    if (first.length == 0) again_.erase(again_.begin());
    return range;
  }
  /// It was asked for in vain.
  void put_back(const Range& range) { again_.push_back(range); }

 private:
  std::uint64_t length_, asked_ = 0;
  std::vector<Range> again_;
};

/// What is known of a rail when the next stripe is given away.
struct RailLoad {
  bool open = false;      // stripes may be asked for over it
  double speed = 0;       // bytes per ns, as measured; 0: it has not been
  std::uint64_t due = 0;  // bytes that were asked for over it and have not come
};

/// What is due over a rail, and how fast it has been. Bytes by the time in which something was due, over some windows:
/// the last bytes of several stripes are often told together, so the time of one stripe says little.
class RailMeter {
 public:
  std::uint64_t due() const { return due_; }
  std::uint64_t bytes() const { return bytes_; }
  double speed() const { return busy_ns_ > 0 ? busy_bytes_ / busy_ns_ : 0; }  // bytes per ns
  std::uint64_t measured() const { return measured_; }

  void ask(std::uint64_t bytes, std::uint64_t now) {
    if (due_ == 0) due_since_ = busy_since_ = now;
    due_ += bytes;
  }
  /// Bytes of stripes have come.
  void count(std::uint64_t bytes) { bytes_ += bytes; }
  /// A stripe is over, of which the last byte came now.
  void over(std::uint64_t bytes, std::uint64_t now, std::uint64_t stripe) {
    due_ -= bytes;
    busy_bytes_ += static_cast<double>(bytes);
    busy_ns_ += static_cast<double>(now - busy_since_);
    busy_since_ = measured_ = now;
    if (busy_bytes_ < static_cast<double>(kStripesMeasured * stripe)) return;
    busy_bytes_ /= 2;
    busy_ns_ /= 2;
  }
  /// A stripe of the rail is not waited for any more.
  void give_up(std::uint64_t bytes) { due_ -= bytes; }
  void give_up_all() { due_ = 0; }
  /// Something came over the rail.
  void heard(std::uint64_t now) { due_since_ = now; }
  /// How fast it was says nothing any more.
  void forget_speed() { busy_bytes_ = busy_ns_ = 0; }

  /// `newest`: when one of the rails was measured last.
  RailLoad load(bool open, std::uint64_t newest) const {
    const bool counts = due_ != 0 || newest - measured_ < kForgotten;
    return {.open = open, .speed = counts ? speed() : 0, .due = due_};
  }
  /// Whether the rail has brought nothing for so long that its stripes are better asked for over others.
  bool is_silent(std::uint64_t now) const { return due_ != 0 && now >= due_since_ + kStall; }
  /// Whether another rail shows of one that is silent that the peer makes progress, or has time for what that one does
  /// not bring.
  bool shows_stall_of(const RailMeter& silent) const {
    return due_ == 0 || due_since_ > silent.due_since_ + kStall / 2;
  }

 private:
  static constexpr std::uint64_t kStripesMeasured = 16;  // older ones count half
  // While others bring something, a rail that brings nothing for so long has lost its stripes: two repetitions of the
  // system's, at least.
  static constexpr std::uint64_t kStall = 500'000'000;
  // A measurement that is older by so much than another rail's says nothing: a rail that was slow gets a stripe again.
  static constexpr std::uint64_t kForgotten = 1'000'000'000;

  std::uint64_t due_ = 0;
  std::uint64_t due_since_ = 0;          // when the first of these bytes was asked for, or the last bytes came
  std::uint64_t busy_since_ = 0;         // something has been due, or the last stripe came
  double busy_bytes_ = 0, busy_ns_ = 0;  // of late
  std::uint64_t measured_ = 0;           // when
  std::uint64_t bytes_ = 0;              // that have come in stripes
};

inline constexpr int kNoRail = -1;

/// The functions that choose_rail() is made of.
class StripePlan {
 public:
  StripePlan(std::span<const RailLoad> rails, std::uint64_t stripe) : rails_(rails), stripe_(stripe) {
    double sum = 0;
    int count = 0;
    for (const RailLoad& rail : rails) {
      if (!rail.open || rail.speed <= 0) continue;
      sum += rail.speed;
      ++count;
    }
    if (count != 0) mean_ = sum / count;
  }

  double end_of_next(const RailLoad& rail) const { return static_cast<double>(rail.due + stripe_) / speed_of(rail); }

  /// When the rails but `one` would have brought all that is left. Each of them brings whole stripes.
  double end_without(const RailLoad& one, std::uint64_t left) const {
    double bytes = static_cast<double>(left), speed = 0, soonest = kNever;
    for (const RailLoad& rail : rails_) {
      if (!rail.open || &rail == &one) continue;
      bytes += static_cast<double>(rail.due);
      speed += speed_of(rail);
      soonest = std::min(soonest, end_of_next(rail));
    }
    return speed > 0 ? std::max(bytes / speed, soonest) : kNever;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

 private:
  double speed_of(const RailLoad& rail) const { return rail.speed > 0 ? rail.speed : mean_; }

  std::span<const RailLoad> rails_;
  std::uint64_t stripe_;
  double mean_ = 1;  // of what has been measured, for what has not
};

/// The rail over which a stripe of `stripe` bytes is asked for, the first of `left` bytes that have not been asked for.
/// At most `window` bytes are due over a rail, one stripe over a rail that has not been measured. kNoRail: the stripe
/// waits, as a rail over which something is due will have brought it sooner than those that have room.
inline int choose_rail(std::span<const RailLoad> rails, std::uint64_t stripe, std::uint64_t left,
                       std::uint64_t window) {
  const StripePlan plan(rails, stripe);
  int best = kNoRail;
  double best_end = StripePlan::kNever;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const RailLoad& rail = rails[i];
    const bool has_room = rail.due == 0 || (rail.speed > 0 && rail.due + stripe <= window);
    if (!rail.open || !has_room) continue;
    const double end = plan.end_of_next(rail);
    if (end >= best_end || end > plan.end_without(rail, left)) continue;
    best = static_cast<int>(i);
    best_end = end;
  }
  return best;
}

/// The same, of at most kMost rails that have a `meter` each: `stripe` is the usual length, `length` that of the next
/// one. is_open(i): stripes may be asked for over the i-th.
template <std::size_t kMost, class Rails, class IsOpen>
int next_rail(const Rails& rails, IsOpen is_open, std::uint64_t length, std::uint64_t left, std::uint64_t stripe) {
  std::array<RailLoad, kMost> loads;
  std::uint64_t newest = 0;
  for (const auto& rail : rails) newest = std::max(newest, rail.meter.measured());
  for (std::size_t i = 0; i < rails.size(); ++i) loads[i] = rails[i].meter.load(is_open(i), newest);
  return choose_rail({loads.data(), rails.size()}, length, left, kStripesDue * stripe);
}

/// What was measured of these rails, and what each has brought, in words; "": one has not been measured.
[[gnu::cold]] inline std::string shares_of(std::span<const RailMeter* const> rails) {
  std::uint64_t bytes = 0;
  for (const RailMeter* const rail : rails) {
    if (rail->speed() == 0) return "";
    bytes += rail->bytes();
  }
  std::string speeds, shares;
  for (const RailMeter* const rail : rails) {
    char text[64];
    const char* const comma = rail == rails.front() ? "" : ", ";
    std::snprintf(text, sizeof text, "%s%.1f MB/s", comma, rail->speed() * 1e3);
    speeds += text;
    std::snprintf(text, sizeof text, "%s%.0f %%", comma,
                  100.0 * static_cast<double>(rail->bytes()) / static_cast<double>(std::max<std::uint64_t>(bytes, 1)));
    shares += text;
  }
  return "measured " + speeds + ", share of the stripes so far " + shares;
}

}  // namespace ashlar::plugin

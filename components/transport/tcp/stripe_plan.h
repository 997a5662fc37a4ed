#pragma once
#include <cstdint>
#include <span>

namespace ashlar::tcp {

/// What is known of a rail when the next stripe is given away.
struct RailLoad {
  bool open = false;      // stripes may be asked for over it
  double speed = 0;       // bytes per ns, as measured; 0: it has not been
  std::uint64_t due = 0;  // bytes that were asked for over it and have not come
};

inline constexpr int kNoRail = -1;

/// The rail over which a stripe of `stripe` bytes is asked for, the first of `left` bytes that have not been asked for.
/// At most `window` bytes are due over a rail, one stripe over a rail that has not been measured. kNoRail: the stripe
/// waits, as a rail over which something is due will have brought it sooner than those that have room.
int choose_rail(std::span<const RailLoad> rails, std::uint64_t stripe, std::uint64_t left, std::uint64_t window);

}  // namespace ashlar::tcp

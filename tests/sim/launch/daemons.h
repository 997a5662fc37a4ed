#pragma once
#include <signal.h>

#include <cstdint>

namespace ashlar::sim {

// What the virtual daemons do when they are sent these signals for a rank.
inline constexpr int kDie = SIGKILL;
inline constexpr int kEnterFence = SIGUSR1;
inline constexpr int kAskForRecord = SIGUSR2;  // of the rank that is as far from the last one as they from the first

// Variables of their environment: how many hosts there are; and, when set, that no agent leads on from any of them.
inline constexpr char kHostsVariable[] = "VIRTUAL_HOSTS";
inline constexpr char kNoWayVariable[] = "VIRTUAL_NO_WAY";

/// Messages that passed between a daemon and what is above it, since this was asked for. Questions for it do not count.
struct Passed {
  std::uint64_t down = 0, up = 0;
};
template <class Archive>
void fields(Archive& a, Passed& p) {
  a(p.down, p.up);
}

}  // namespace ashlar::sim

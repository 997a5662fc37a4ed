#pragma once
#include <cstdint>

#include "framework/base/clock.h"
#include "framework/plugin/tool.h"

namespace ashlar::mpiexec {

/// How the clock of another host goes beside the own one, found by asking it for the time: the answer was given between
/// the question and its arrival here, and nothing is known of where between. Of many such exchanges in a row the
/// shortest says most. Clocks of two hosts drift apart by up to some 100 us a second, so the hosts meet twice, as far
/// apart as the job allows, and the clock is taken to be straight between.
class HostClock {
 public:
  /// Exchanges from here on are another meeting. What the second one has found is forgotten when a third begins.
  void meet();
  /// Asked at `asked`, heard at `heard`, both on the own clock.
  void add(std::uint64_t asked, const Moment& there, std::uint64_t heard);
  ashlar_tool_host_clock facts() const;

 private:
  struct Meeting {
    std::uint64_t there = 0, here = 0;
    std::uint64_t error = UINT64_MAX;  // half of the exchange: `here` is its middle
    bool held() const { return error != UINT64_MAX; }
  };
  Meeting first_, last_;
  unsigned meetings_ = 0;
  Moment counter_{};
};

}  // namespace ashlar::mpiexec

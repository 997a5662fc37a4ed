#pragma once
#include <cstdint>
#include <vector>

#include "components/tool/common/figures.h"

namespace ashlar::tool_trace {

/// A call, or several short calls of one rank that lie in one interval.
struct Bar {
  double began, took;  // ns since the job began
  std::uint32_t procedure;
  std::uint32_t comm;
  std::int32_t peer;
  std::uint64_t bytes;
  std::uint32_t calls;               // 1: the bar is a call
  std::uint8_t algorithm, protocol;  // as in TimedCall; of several calls that differ: 0
  double in_mpi;                     // ns; less than `took` where several calls are one bar
};

struct RankTimeline {
  std::uint32_t rank;
  std::vector<Bar> bars;
};

struct Timeline {
  std::vector<RankTimeline> ranks;
  double interval = 0;      // ns: shorter calls in one such interval (less in some ranks) are one bar; 0: all are calls
  std::uint64_t calls = 0;  // that the bars stand for
  bool all_ranks = true;    // false: ranks that ended badly, those that differ most, and others evenly spaced
};

/// At most `most_ranks` ranks and about `most_bars` bars.
Timeline timeline_of(const recording::Records& records, const recording::Figures& figures, std::size_t most_ranks,
                     std::size_t most_bars);

/// The ranks to show where there is room for `most` of them, in order.
std::vector<std::uint32_t> chosen_ranks(const recording::Records& records, const recording::Figures& figures,
                                        std::size_t most);

}  // namespace ashlar::tool_trace

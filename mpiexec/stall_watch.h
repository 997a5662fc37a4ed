#pragma once
#include <cstdint>
#include <vector>

#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// Finds out, from what the ranks publish on the board, that a job stalls: some rank is inside MPI, and no rank has got
/// on for so long. A rank gets on when a call of it begins to wait, when something happens in a wait, when it joins or
/// leaves MPI, and when it ends. Ranks that all compute are no stall. Nothing is asked of a rank here.
class StallWatch {
 public:
  /// The board outlives the watch.
  StallWatch(launch::BoardHeader* board, std::uint64_t limit_ns, std::uint64_t now);

  /// Between looks; a little before each, StatusQuery::refresh() makes the ranks that are inside MPI say so.
  std::uint64_t interval_ns() const { return interval_ns_; }
  /// One look at all ranks. True when a stall has lasted for the limit, once for each stall.
  bool look(std::uint64_t now);

 private:
  struct Seen {
    std::uint32_t state = 0, fences = 0, end = 0;
    bool operator==(const Seen&) const = default;
  };

  launch::BoardHeader* const board_;
  const std::uint64_t limit_ns_, interval_ns_;
  std::vector<Seen> seen_;
  std::uint64_t looked_ns_;
  std::uint64_t moved_ns_;     // when any rank last got on, as far as the ranks do not say so themselves
  std::uint64_t told_ns_ = 0;  // when this stall was found; 0: there is none
};

}  // namespace ashlar::mpiexec

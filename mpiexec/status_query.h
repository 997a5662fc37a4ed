#pragma once
#include <cstdint>
#include <vector>

#include "framework/plugin/launch_board.h"
#include "mpiexec/waits.h"

namespace ashlar::mpiexec {

/// Queries the status of all ranks of a job through its board. A rank sees the query in its next round of progress, a
/// sleeping one within the longest sleep of 50 ms, and writes its status into its page of the board. A rank that is not
/// inside MPI does not answer, and that is reported too. Nothing is sent and no signal is used. Never blocks.
class StatusQuery {
 public:
  explicit StatusQuery(launch::BoardHeader* board) : board_(board), processes_(board->ranks) {}

  /// Makes every rank that is inside MPI record the time. Called once a second, so that a later query can tell how long
  /// a rank has been outside.
  void refresh();
  /// Queries all ranks, and begins to wait for the answers.
  void start();
  /// Whether there is nothing more to wait for: all ranks have answered, or the time for answers is over.
  bool finished();
  std::vector<RankStatus> statuses();

 private:
  struct Process {
    std::uint64_t cpu_ticks = 0;
    char state = 0;
  };
  static Process look_at(std::uint32_t pid);
  bool has_answered(launch::BoardSlot& slot) const;

  launch::BoardHeader* const board_;
  std::vector<Process> processes_;  // when the query began
  std::uint64_t asked_ns_ = 0, patient_until_ns_ = 0;
  unsigned answers_ = 0;
};

}  // namespace ashlar::mpiexec

#pragma once
#include <cstdint>
#include <vector>

#include "framework/plugin/launch_board.h"
#include "mpiexec/waits.h"

namespace ashlar::mpiexec {

/// Asks the ranks of a job, through its board, what they are doing. They see a question in their next round of
/// progress, a sleeping one within the longest sleep of 50 ms, and write what they have to say into their page; a rank
/// that is not inside MPI says nothing, which is an answer too. Nothing is sent and no signal is used. Never blocks.
class RollCall {
 public:
  explicit RollCall(launch::BoardHeader* board) : board_(board), processes_(board->ranks) {}

  /// Makes every rank that is inside MPI note the time. Called once a second, so that one knows how long a rank has
  /// been outside when a question comes.
  void ping();
  /// Asks everybody, and begins to wait for the answers.
  void ask();
  /// Whether there is nothing more to wait for: all have answered, or those who have not had their time.
  bool over();
  std::vector<Standing> standings();

 private:
  struct Process {
    std::uint64_t cpu_ticks = 0;
    char state = 0;
  };
  static Process look_at(std::uint32_t pid);
  bool has_answered(launch::BoardSlot& slot) const;

  launch::BoardHeader* const board_;
  std::vector<Process> processes_;  // when the question was asked
  std::uint64_t asked_ns_ = 0, patient_until_ns_ = 0;
  unsigned answers_ = 0;
};

}  // namespace ashlar::mpiexec

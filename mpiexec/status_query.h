#pragma once
#include <cstdint>
#include <vector>

#include "framework/plugin/launch_board.h"
#include "framework/plugin/variables.h"
#include "mpiexec/waits.h"

namespace ashlar::mpiexec {

/// Queries the status of all ranks of a job through its board. A rank sees the query in its next round of progress, a
/// sleeping one within the longest sleep of 50 ms, and writes its status into its page of the board. A rank that is not
/// inside MPI does not answer, and that is reported too. Its variables are asked for in the same way. Nothing is sent
/// and no signal is used; of ranks on other nodes the launcher sees the query on its board, and asks there. Never
/// blocks.
class StatusQuery {
 public:
  /// What is asked: what a rank is doing (plugin/account.h), or its variables (plugin/variables.h).
  enum class About { kStatus, kVariables };

  explicit StatusQuery(launch::BoardHeader* board, About about = About::kStatus)
      : board_(board), about_(about), processes_(board->ranks) {}

  /// Makes every rank that is inside MPI record the time. Called once a second, so that a later query can tell how long
  /// a rank has been outside.
  void refresh();
  /// Queries all ranks, and begins to wait for the answers.
  void start();
  /// Whether there is nothing more to wait for: all ranks have answered, or the time for answers is over.
  bool finished();
  std::vector<RankStatus> statuses();
  /// Whether the rank has answered, and so variables() are of now.
  bool has_answered(std::uint32_t rank) const;
  plugin::Variables variables(std::uint32_t rank) const;
  About about() const { return about_; }
  /// What the process of a rank that has not answered does: 'T' it is stopped, 'R' it computes, 'D' it is in a system
  /// call that cannot be interrupted, 'S' it sleeps; 0: it is not known.
  char process_of(std::uint32_t rank) const;

 private:
  struct Process {
    std::uint64_t cpu_ticks = 0;
    char state = 0;
  };
  static Process look_at(std::uint32_t pid);
  bool has_answered(launch::BoardSlot& slot) const;
  void ask(launch::BoardSlot& slot) const;
  void ring() const;
  /// An account that the rank wrote, with times of this node's clock.
  plugin::Account account_of(std::uint32_t rank, const launch::BoardText& page) const;

  launch::BoardHeader* const board_;
  const About about_;
  std::vector<Process> processes_;  // when the query began
  std::uint64_t asked_ns_ = 0, patient_until_ns_ = 0;
  unsigned answers_ = 0;
};

}  // namespace ashlar::mpiexec

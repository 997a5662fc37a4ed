#pragma once
#include <string>
#include <vector>

#include "framework/plugin/account.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// What is known of one rank some time after all were asked what they are doing.
struct Standing {
  launch::RankState state = launch::RankState::kAbsent;
  std::uint32_t use = 0;  // launch::RankUse
  bool ended = false;
  bool answered = false;  // it has made progress since the question
  bool gets_on = false;   // what it waits for, it did not wait for yet when the question was asked
  double silent_s = -1;   // since it last made progress; negative: not known
  std::string process;    // what the system says: "computes", "sleeps", "is stopped"; "": not known
  unsigned fences = 0;    // meetings of all ranks that it has entered, of which MPI_Init is the first
  plugin::Account account;
};

/// Who waits for whom, in sentences: each rank's call, ranks of equal words together; then the circle in which they
/// wait, if there is one, or else the ranks that all the others wait for in the end. "" when no rank has joined MPI.
std::string waits_in_words(const std::vector<Standing>& ranks);

}  // namespace ashlar::mpiexec

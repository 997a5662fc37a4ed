#pragma once
#include <string>
#include <vector>

#include "framework/plugin/account.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// The status of one rank, some time after a query of all (status_query.h).
struct RankStatus {
  launch::RankState state = launch::RankState::kAbsent;
  std::uint32_t pid = 0;
  std::uint32_t use = 0;  // launch::RankUse
  bool ended = false;
  bool elsewhere = false;   // on another host, of which the launcher that was asked knows nothing
  bool answered = false;    // it has made progress since the query began
  bool progresses = false;  // it began to wait for what it waits for after the query began
  double silent_s = -1;     // since it last made progress; negative: not known
  std::string process;      // what the system says: "computes", "sleeps", "is stopped"; "": not known
  unsigned fences = 0;      // fences of the launcher that it has entered; MPI_Init has the first
  plugin::Account account;
  plugin::Account newest_wait;  // of a rank that has not answered: the newest wait that it has recorded
  double newest_wait_s = -1;    // since that began; negative: none is known
};

/// What a query has shown.
struct JobWaits {
  struct Rank {
    std::string text;             // "waits in MPI_Recv from rank 1 tag 7 on 'MPI_COMM_WORLD'"
    std::vector<unsigned> needs;  // the ranks without which it does not get on
  };
  std::vector<Rank> ranks;
  std::vector<unsigned> cycle;  // each of them needs the next, and the last one the first; empty: there is no cycle
  std::vector<unsigned> ends;   // without a cycle: those that others need, and that need none
};
JobWaits waits_of(const std::vector<RankStatus>& ranks);

/// Whether any rank has joined MPI and not left it.
bool inside_mpi(const std::vector<RankStatus>& ranks);

/// Which rank waits for which, in sentences: each rank's call, ranks of equal words together; then the cycle in which
/// they wait, if there is one, or else the ranks that all the others wait for in the end. "" when no rank has joined
/// MPI.
std::string waits_in_words(const std::vector<RankStatus>& ranks);

}  // namespace ashlar::mpiexec

#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "components/tool/common/reader.h"

namespace ashlar::recording {

/// A quantity of the ranks: the least and the most with their ranks.
struct Spread {
  double least = 0, mean = 0, most = 0;
  std::uint32_t least_rank = 0, most_rank = 0;
  std::uint32_t ranks = 0;  // that have it

  void add(std::uint32_t rank, double value);
};

/// All calls of one procedure in the job.
struct ProcedureFigures {
  std::uint32_t procedure = 0;
  CallTotal total;
  Spread seconds;  // of the ranks that called it
};

/// How the time of a rank is divided. Of a rank with several threads it is that of all of them together.
struct RankFigures {
  std::uint32_t rank = 0;
  double seconds = 0, in_mpi = 0, computing = 0;  // between initialisation and finalisation
  std::uint64_t calls = 0, messages = 0, bytes = 0;
};

/// What is worked out of the records of all ranks.
struct Figures {
  explicit Figures(const Records& records);

  std::vector<RankFigures> ranks;  // those that have records
  std::vector<std::string> hosts;  // of all ranks, in their order
  double clock_error = 0;          // seconds: within which times of ranks on different hosts can be compared
  Spread in_mpi, computing, memory;
  double seconds = 0;                        // of the rank that took longest, all its threads
  double load_balance = 1;                   // mean of the computing times, over the longest
  std::vector<ProcedureFigures> procedures;  // that were called, by time
  std::uint64_t calls = 0, messages = 0, bytes = 0;
  std::vector<Transport> transports;
  std::vector<Protocol> protocols;                 // that messages went by
  std::map<std::string, std::uint64_t> variables;  // sums over the ranks
  std::uint64_t dropped = 0, unplaced = 0, calls_recorded = 0, calls_kept = 0;

  double part_in_mpi() const;
  std::uint64_t variable(const char* name) const;
};

/// "a", "a and b", "a and 3 more hosts".
std::string hosts_text(const std::vector<std::string>& hosts);

/// Whether this procedure belongs to the time before or after the program's own work.
bool begins_mpi(const Procedure& procedure);

/// Whether the bytes of a call say how much may come, not what has come.
bool tells_room(const Procedure& procedure);

}  // namespace ashlar::recording

#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// How one rank fared.
struct RankFate {
  pid_t pid = -1;
  std::string program, host;
  bool running = false;
  bool remote_stream[2] = {};  // on another host: output, error: there may be more
  bool ended = false;
  int wait_status = 0;
  launch::RankState state = launch::RankState::kAbsent;
  std::uint32_t use = 0;  // launch::RankUse
  bool aborted = false;
  int abort_code = 0;
  std::string abort_text;
  std::string lost;      // why nothing more is known of it: its host was lost; else empty
  std::string advice;    // a sentence about what the user can do, when the reason of the end is known
  bool failed = false;   // by itself, not because we ended it
  bool stopped = false;  // ended by us after another one failed
  double seconds = 0;    // since the start of the job
};

/// Whether a rank that ended like this has failed the job, so that the others must be stopped.
/// `others_in_mpi`: some other rank has joined the job and may be waiting for this one.
bool fails_the_job(const RankFate& fate, bool others_in_mpi);

/// Whether the rank aborted because another one is gone: then the other one's end is the reason.
bool blames_another(const RankFate& fate);

/// The exit status of a rank as a shell would give it; an abort's or a missing finalize's is never 0.
int exit_status(const RankFate& fate);

/// The sentence that says which rank failed and how.
std::string end_words(const std::vector<RankFate>& fates, unsigned rank);

/// The paragraph that says which rank failed and how, and what became of the others.
std::string failure_words(const std::vector<RankFate>& fates, unsigned first_failed);

/// The same of a job that nothing went wrong with but what a rank, the first, returned.
std::string return_words(const std::vector<RankFate>& fates, unsigned first);

}  // namespace ashlar::mpiexec

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/variables.h"

namespace ashlar::info {

/// A job that is running on this machine, found through the number of its mpiexec's process or of one of its ranks. Its
/// board is mapped; nothing of the job is disturbed.
class RunningJob {
 public:
  RunningJob() = default;
  ~RunningJob();
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  /// Fails when the process belongs to no job of this version, or to another user's.
  Status find(int pid);

  /// The merged parameters as the ranks got them.
  std::string parameters() const;
  /// Tells `store` what the rank that find() was given uses in place of parameters in force; of an mpiexec, rank 0.
  void adjustments(param::Store* store) const;
  /// Which rank waits for which, by a query of all ranks. Takes as long as they take to answer: 50 ms, 1 s when one
  /// does not. `json`: as waits.schema.json says.
  std::string waits(bool json);

  /// One rank's variables, by a query as for waits().
  struct RankVariables {
    std::uint32_t rank = 0, pid = 0;
    bool answered = false;
    std::string silence;  // why it has not: "it computes"
    plugin::Variables variables;
  };
  /// Of the rank that find() was given; of an mpiexec, of all ranks.
  std::vector<RankVariables> variables();
  /// Tells `store` what the program of that rank has set (of an mpiexec, of rank 0). Fails when the rank does not
  /// answer.
  Status program_settings(param::Store* store);
  const char* job_id() const { return board_->job_id; }

 private:
  bool map(int fd);

  launch::BoardHeader* board_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t rank_ = 0;  // of the process that find() was given
  bool one_rank_ = false;   // it is a rank, not an mpiexec
};

}  // namespace ashlar::info

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/launch_board.h"

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

 private:
  bool map(int fd);

  launch::BoardHeader* board_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t rank_ = 0;  // of the process that find() was given
};

}  // namespace ashlar::info

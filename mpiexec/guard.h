#pragma once
#include <sys/types.h>

#include <atomic>
#include <string>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// A small process that outlives mpiexec by one system call: when mpiexec is killed, even by SIGKILL, it kills the
/// process groups of the ranks. The kernel's death signal reaches only mpiexec's own children; a rank started through
/// a shell or a Python wrapper is a grandchild. Then it removes the job's temporary folder, if there is one.
class Guard {
 public:
  Guard() = default;
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// `folder`: removed with all that is in it once mpiexec has ended; it need not exist yet, or ever. Empty: none.
  Status start(unsigned ranks, const std::string& folder);
  void watch(unsigned rank, pid_t group) { groups_[rank].store(group); }
  void forget(unsigned rank) { groups_[rank].store(0); }
  pid_t pid() const { return pid_; }

 private:
  std::atomic<pid_t>* groups_ = nullptr;  // shared with the guard
  unsigned ranks_ = 0;
  int pipe_ = -1;
  pid_t pid_ = -1;
};

}  // namespace ashlar::mpiexec

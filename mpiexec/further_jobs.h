#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// The jobs that ranks of this one start (MPI_Comm_spawn): each has an mpiexec of its own, a child of this one. The
/// connection that a rank has made (control.h) goes to that mpiexec as it is; the two talk there
/// (plugin/further_job.h).
class FurtherJobs {
 public:
  /// What a further job has of this one.
  struct Facts {
    std::string name;            // of this job: "" or "1.2"
    std::uint64_t names_at = 0;  // the control socket of the mpiexec that has the names; 0: none has
    double timeout_s = 0;        // what is left of it; 0: none
    unsigned ranks = 0;          // of this job and those above it
    std::string taken;           // the hosts on which they run (further_request.h)
  };

  FurtherJobs() = default;
  FurtherJobs(const FurtherJobs&) = delete;
  FurtherJobs& operator=(const FurtherJobs&) = delete;

  /// Starts an mpiexec for the rank at the other end of the socket.
  void start(Descriptor socket, const char* const* argv, const Facts& facts, const Inherited& inherited);
  /// Whether the process was one of them.
  bool ended(pid_t pid, int wait_status);
  unsigned running() const { return running_; }
  void signal(int number) const;
  /// This job has failed: those that are connected to it end, too.
  void tell_failed();
  /// The first exit status that was not 0.
  int status() const { return status_; }

 private:
  struct Child {
    pid_t pid;
    Descriptor leash;  // a byte in it says that this job has failed
  };
  std::vector<Child> children_;
  unsigned running_ = 0, started_ = 0;
  int status_ = 0;
};

}  // namespace ashlar::mpiexec

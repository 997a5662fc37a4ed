#pragma once
#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// The jobs that ranks of this one start (MPI_Comm_spawn): each has an mpiexec of its own, a child of this one. A rank
/// connects to a socket, whose other end goes to that mpiexec as it is; the two talk there (plugin/further_job.h).
class FurtherJobs {
 public:
  /// What a further job has of this one.
  struct Facts {
    std::string name;        // of this job: "" or "1.2"
    std::string name_scope;  // of names that its processes publish
    double timeout_s = 0;    // what is left of it; 0: none
    unsigned ranks = 0;      // of this job and those above it
  };

  FurtherJobs() = default;
  FurtherJobs(const FurtherJobs&) = delete;
  FurtherJobs& operator=(const FurtherJobs&) = delete;

  /// Takes requests from now on, which is when the first rank wants to make one. place() is 0 when that cannot be.
  void open();
  /// The socket's number; 0: there is none.
  std::uint64_t place() const { return place_; }
  int fd() const { return listener_.get(); }
  /// Starts an mpiexec for each rank that has connected.
  void serve(const char* const* argv, const Facts& facts, const Inherited& inherited);
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
  void start(Descriptor socket, const char* const* argv, const Facts& facts, const Inherited& inherited);

  Descriptor listener_;
  std::uint64_t place_ = 0;
  std::vector<Child> children_;
  unsigned running_ = 0, started_ = 0;
  int status_ = 0;
};

}  // namespace ashlar::mpiexec

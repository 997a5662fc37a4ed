#pragma once
#include <string>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// An mpiexec that was started for a further job (further_jobs.h) gets what it starts over a socket, and answers there.
class FurtherRequest {
 public:
  /// Reads the variable that names the socket, and takes it out of the environment. False: this mpiexec has a command
  /// line.
  bool find();
  /// Takes the request in, and makes of `options`, which are those of the command line of the mpiexec above, those of
  /// the further job. Fails when the job cannot be started as it is asked for.
  Status apply(Options* options);
  /// Answers to the process that asked.
  void refused(const std::string& sentence);
  void started(const Options& options);
  void over(const std::string& sentence);

  const std::string& name() const { return name_; }
  const std::string& name_scope() const { return name_scope_; }
  const std::string& parent_port() const { return parent_port_; }
  /// Becomes readable when the job that asked has failed.
  int leash() const { return leash_.get(); }
  /// Of the jobs above this one.
  unsigned ranks_above() const { return ranks_above_; }

 private:
  void tell(const char* word, const std::string& more);

  Descriptor socket_, leash_;
  std::string name_, name_scope_, parent_port_;
  double timeout_s_ = 0;
  unsigned ranks_above_ = 0;
};

}  // namespace ashlar::mpiexec

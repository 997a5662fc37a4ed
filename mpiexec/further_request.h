#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/hosts.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// An mpiexec that was started for a further job (further_jobs.h) gets what it starts over a socket, and answers there.
class FurtherRequest {
 public:
  /// The hosts of the command line above, of all its programs.
  static std::vector<HostSlots> hosts_of(const Options& options);
  /// "a=2,b=1": how many ranks run on hosts, as one word.
  static std::string text_of(const std::vector<HostSlots>& taken);

  /// Reads the variable that names the socket, and takes it out of the environment. False: this mpiexec has a command
  /// line.
  bool find();
  /// Takes the request in, and makes of `options`, which are those of the command line of the mpiexec above, those of
  /// the further job. Fails when the job cannot be started as it is asked for.
  Status apply(Options* options);
  /// Answers to the process that asked.
  void refused(const std::string& sentence);
  void started(const Options& options, const std::string& job_id);
  void over(const std::string& sentence);

  const std::string& name() const { return name_; }
  /// The control socket of the mpiexec that has the names of its processes; 0: none has, as a process without mpiexec
  /// asked.
  std::uint64_t names_at() const { return names_at_; }
  const std::string& parent_port() const { return parent_port_; }
  /// Becomes readable when the job that asked has failed.
  int leash() const { return leash_.get(); }
  /// When it was asked for.
  std::uint64_t asked_ns() const { return asked_ns_; }
  /// Of the jobs above this one.
  unsigned ranks_above() const { return ranks_above_; }
  /// The hosts on which they run.
  const std::vector<HostSlots>& taken_above() const { return taken_above_; }

 private:
  void tell(const char* word, const std::string& more);

  Descriptor socket_, leash_;
  std::string name_, parent_port_;
  std::uint64_t names_at_ = 0;
  double timeout_s_ = 0;
  std::uint64_t asked_ns_ = 0;
  unsigned ranks_above_ = 0;
  std::vector<HostSlots> taken_above_;
};

}  // namespace ashlar::mpiexec

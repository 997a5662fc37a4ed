#pragma once
#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiexec/check_order.h"
#include "mpiexec/environment.h"
#include "mpiexec/node_plan.h"
#include "mpiexec/options.h"
#include "mpiexec/remote_node.h"
#include "mpiexec/settings.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// A host of --check, and what has become known of it.
struct CheckedHost {
  PlannedHost plan;
  std::unique_ptr<RemoteNode> node;
  std::uint64_t began_ns = 0;  // when its agent was started
  std::uint64_t agent_ns = 0;  // until its daemon had said its line
  std::vector<CheckStep> steps;
  bool looked = false;  // it has sent `report`
  HostReport report;
  bool tried = false;  // it has sent `ways`
  std::vector<WayResult> ways;
  std::string failure;  // why nothing more will come; "": nothing has failed
};

/// mpiexec --check: instead of a job, each host looks at what a job would find there, and all of them try the ways to
/// each other. This host has a daemon, too: a disk that does not answer must not stop mpiexec. A host that fails does
/// not keep the others from being looked at. Each step has a deadline: mpiexec.start_timeout until a host has looked,
/// mpiexec.check_timeout for each way.
class Check {
 public:
  Check(const Options& options, const Settings& settings, const Inherited& inherited, const Environment& environment,
        const std::string& host);
  ~Check();
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  /// Prints what was found to standard output. The exit status: 0 when a job can run on all hosts.
  int run();

 private:
  void start_agents();
  CheckOrder order_for(unsigned host) const;
  void try_ways();
  /// Until no host is expected to tell more, or a signal came.
  void loop(bool CheckedHost::*told);
  void turn();
  void take_frames(unsigned host);
  bool take(CheckedHost& host, const Frame& frame);
  void check_hosts(std::uint64_t now);
  void handle_signals();
  void reap();
  std::uint64_t time_for_ways() const;

  const Options& options_;
  const Settings& settings_;
  const Inherited& inherited_;
  const Environment& environment_;
  std::vector<CheckedHost> hosts_;
  std::string secret_;
  int signal_fd_ = -1;
  int interrupted_by_ = 0;
  std::uint64_t beat_ns_ = 0;
  std::uint64_t ways_until_ns_ = 0;  // 0: they are not tried yet
};

}  // namespace ashlar::mpiexec

#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/frames.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// What leads to a host: "ssh -x %h", the host, and the daemon's path there.
struct AgentOrder {
  std::string command;  // empty: the daemon runs on this host, a child of this process
  std::string host;
  std::string daemon;

  /// The command's words with the host in the place of %h, or behind them, as one line for people.
  std::string words() const;
};
template <class Archive>
void fields(Archive& a, AgentOrder& o) {
  a(o.command, o.host, o.daemon);
}

/// News of an agent that a daemon has started.
struct AgentOver {
  std::uint32_t node = 0;
  bool ended = false;  // false: it has closed its pipe, and may still run
  std::int32_t wait_status = 0;
  std::string failure = {};  // why it was not started at all
};
template <class Archive>
void fields(Archive& a, AgentOver& o) {
  a(o.node, o.ended, o.wait_status, o.failure);
}

/// A process that runs a daemon somewhere and passes on its streams.
class Agent {
 public:
  Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  Status start(const AgentOrder& order, const Inherited& inherited);
  bool runs() const { return pid_ > 0; }
  bool is(pid_t pid) const { return pid > 0 && pid == pid_; }
  /// The ends of its pipes that are this process's, until they are moved away: where to write, where to read, and what
  /// it says to standard error (non-blocking).
  Descriptor in, out, err;

  /// Whether the process was the agent, which has ended and been reaped.
  bool take_end(pid_t pid);
  /// Waits for its end, with its pipes closed, and kills it at `until`.
  void end(std::uint64_t until);

 private:
  pid_t pid_ = -1;
};

}  // namespace ashlar::mpiexec

#pragma once
#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpiexec/agent.h"
#include "mpiexec/link.h"

namespace ashlar::mpiexec {

/// The agents that a daemon has started for mpiexec, in a tree of many hosts. It passes on bytes both ways and knows
/// nothing of what they say; mpiexec decides what becomes of an agent that fails.
class Relays {
 public:
  /// `up` leads to mpiexec. Both outlive it.
  Relays(const Inherited& inherited, Link& up) : inherited_(inherited), up_(up) {}
  /// What was to be passed down is written first; agents that do not end with their pipes are killed.
  ~Relays();
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  /// kLead, kDown, kForget. False: it cannot be read.
  bool take(const Frame& frame);
  /// kToAll, to every daemon that has been told something already.
  void pass_on(const Frame& frame);
  void add(std::vector<pollfd>* fds) const;
  /// `fds`: those that add() has added.
  void handle(const pollfd* fds);
  void flush();
  bool has(pid_t pid) const;
  /// The process, of which has() is true, has ended and was reaped.
  void ended(pid_t pid, int wait_status);

 private:
  struct Child {
    std::uint32_t node = 0;
    Agent agent;
    Link link;
    bool told = false;    // there is a daemon: only to one is anything sent
    bool closed = false;  // its pipe to this process
  };
  bool lead(Unpacker& from);
  Child* find(std::uint32_t node);
  void read(Child& child);
  void read_errors(Child& child);

  const Inherited& inherited_;
  Link& up_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace ashlar::mpiexec

#pragma once
#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "mpiexec/agent.h"
#include "mpiexec/job_order.h"
#include "mpiexec/link.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// The line with which a daemon begins; what a shell prints before it is none of the protocol. All facts that must be
/// readable across versions stand in it.
struct DaemonLine {
  static constexpr char kMark[] = "ashlar-mpiexec-daemon";
  std::string version, machine, host;
  unsigned cpus = 0;

  static DaemonLine of_this_process();
  std::string text() const;
  /// False: the line is another one.
  bool parse(std::string_view line);
};

/// How daemons are started: "ssh -x %h", and the daemon's path on every host.
struct AgentFacts {
  std::string command;  // empty: the daemon runs on this host, a child of this process
  std::string daemon;
  std::uint64_t patience_ns = 0;
  std::uint64_t retry_ns = 0;  // after the first failure that may be over soon
};

/// A host of the job that is not this one, seen from mpiexec: the agent that leads there, and the daemon at its other
/// end. It moves bytes and knows how far the start has come; what frames mean is the business of RemoteNodes.
class RemoteNode {
 public:
  enum class Phase {
    kStarting,  // the agent runs, and the daemon has not said its line
    kThere,     // it has
    kOrdered,   // it prepares the job
    kReady,     // and has done so
    kRunning,
    kLeaving,
    kGone
  };

  RemoteNode(unsigned node, std::string host) : node_(node), host_(std::move(host)) {}
  RemoteNode(const RemoteNode&) = delete;
  RemoteNode& operator=(const RemoteNode&) = delete;

  Status start(const AgentFacts& agent, const Inherited& inherited, std::uint64_t now);
  /// Has the daemon of `above`, which outlives this, start the agent. What was tried before is forgotten.
  void start_through(RemoteNode& above, const AgentFacts& agent, std::uint64_t now);
  /// Whether the daemon has said its line, or is about to: an agent runs here, or was asked for.
  bool begun() const { return deadline_ns_ != 0; }
  /// The host through which this one is reached; nullptr: none.
  RemoteNode* above() const { return above_; }
  /// Whether others are reached through this one.
  bool leads_on() const { return behind_ > 0; }
  /// What comes through it.
  void take_bytes(std::string_view bytes, std::uint64_t now);
  void take_said(std::string_view bytes);
  void take_over(const AgentOver& news, std::uint64_t now);
  /// That one is lost.
  void lose_way();
  /// Ends what has been tried, for another way.
  void give_way_up();

  unsigned node() const { return node_; }
  const std::string& host() const { return host_; }
  Phase phase() const { return phase_; }
  void set_phase(Phase phase) { phase_ = phase; }
  /// How far the host has come, as the end of a sentence.
  const char* step_words() const;
  const DaemonLine& line() const { return line_; }
  /// Its agent's command, for people.
  std::string agent() const;
  /// What shells and start files have printed before the daemon's line, and the agent to standard error; "": nothing.
  std::string said() const { return quoted(); }
  Link& link() { return link_; }
  /// Whether frames can be sent.
  bool open() const { return phase_ >= Phase::kThere && phase_ < Phase::kGone; }

  void add(std::vector<pollfd>* fds) const;
  /// Reads what has come, up to the daemon's line. False: the daemon is not what it must be, and trouble() says why.
  bool read(const pollfd* fds, std::uint64_t now);
  static constexpr std::size_t kDescriptors = 3;
  void flush() {
    link_.flush();
    if (above_ != nullptr) above_->flush();
  }

  /// Whether the process was the agent, which has ended with this status.
  bool take_end(pid_t pid, int wait_status, std::uint64_t now);
  /// Whether nothing more will come: the agent has ended, or its pipe has.
  bool over(std::uint64_t now) const;
  /// When over() can be asked again; 0: any time.
  std::uint64_t over_at_ns() const { return begun() && ended_ns_ != 0 ? ended_ns_ + kLastWords : 0; }
  /// A start that takes longer has failed.
  std::uint64_t deadline_ns() const { return phase_ < Phase::kReady ? deadline_ns_ : 0; }
  std::uint64_t heard_ns() const { return heard_ns_; }
  void heard(std::uint64_t now) { heard_ns_ = now; }

  /// Whether the start has.
  bool failed(std::uint64_t now) const {
    return !trouble_.empty() || over(now) || (deadline_ns() != 0 && now >= deadline_ns());
  }
  /// Whether ssh has failed in a way that may be over soon: the name is not known yet, or the server lets in others
  /// first.
  bool may_be_over_soon() const;
  /// That it is started again, and for how long, with the words of the agent.
  Status retry(std::uint64_t for_ns) const;
  /// Why it failed, as a failure with host, step and the words of the agent.
  Status failure(std::uint64_t now) const;
  /// The daemon says itself why the job cannot be there.
  void refuse(std::string sentence) {
    trouble_ = std::move(sentence);
    refused_ = true;
  }
  const std::string& trouble() const { return trouble_; }
  /// "the agent "ssh b" ended with exit status 255", for a daemon that was lost.
  std::string end_words() const;
  /// Lines that the agent has written to standard error since the job runs.
  std::string take_said();
  void close();
  /// Waits for the end of the agent, whose pipe is closed, and kills it at `until`. One that has not led to a daemon
  /// does not hear of the end of its pipe, and has no time.
  void end_agent(std::uint64_t until);

 private:
  static constexpr std::uint64_t kLastWords = 300'000'000;  // between the end of the pipe and the end of the agent
  void begin(const AgentOrder& order, std::uint64_t patience_ns, std::uint64_t now);
  void take_lines();
  std::string quoted() const;

  unsigned node_;
  std::string host_;
  std::string words_;   // the agent's command, for people
  std::string daemon_;  // its path
  Agent agent_;         // not of a host behind another one
  RemoteNode* above_ = nullptr;
  unsigned tries_ = 0;
  unsigned behind_ = 0;  // hosts that have this one as above()
  bool ended_ = false;   // the agent
  bool led_there_ = false;
  int wait_status_ = 0;
  Link link_;
  Phase phase_ = Phase::kStarting;
  DaemonLine line_;
  std::string noise_;  // lines before the daemon's
  std::string said_;   // on standard error
  std::string trouble_;
  bool refused_ = false;
  std::uint64_t began_ns_ = 0, deadline_ns_ = 0, patience_ns_ = 0;
  std::uint64_t heard_ns_ = 0;
  std::uint64_t ended_ns_ = 0;  // when the pipe or the agent ended
};

}  // namespace ashlar::mpiexec

#include "mpiexec/check.h"

#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/ip_interfaces.h"
#include "mpiexec/check_report.h"
#include "mpiexec/program_file.h"
#include "mpiexec/signals.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"
#include "mpiexec/way_prober.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kCheckSecond = 1'000'000'000;
constexpr int kTurnMs = 100;
constexpr std::uint64_t kCheckBeat = 5 * kCheckSecond;   // between two signs of life to the daemons
constexpr std::uint64_t kSlack = 10 * kCheckSecond;      // for what hosts tell of their ways to arrive
constexpr std::uint64_t kAgentLeave = 2 * kCheckSecond;  // until an agent is killed that does not end with its pipe
constexpr std::size_t kSecretBytes = 32;

}  // namespace

Check::Check(const Options& options, const Settings& settings, const Inherited& inherited,
             const Environment& environment, const std::string& host)
    : options_(options), settings_(settings), inherited_(inherited), environment_(environment) {
  for (PlannedHost& plan : plan_check(options, host)) hosts_.emplace_back().plan = std::move(plan);
}

Check::~Check() {
  for (CheckedHost& host : hosts_)
    if (host.node) host.node->close();
  const std::uint64_t until = now_ns() + kAgentLeave;
  for (CheckedHost& host : hosts_)
    if (host.node) host.node->end_agent(until);
  if (signal_fd_ >= 0) close(signal_fd_);
}

int Check::run() {
  const auto give_up = [](const Status& why, int status) {
    say(in_words(why));
    return status;
  };
  signal_fd_ = take_signals();
  if (signal_fd_ < 0) return give_up(cannot("take signals (signalfd)", errno), 2);
  secret_.resize(kSecretBytes);
  if (getrandom(secret_.data(), secret_.size(), 0) != static_cast<ssize_t>(secret_.size()))
    return give_up(cannot("get random bytes (getrandom)", errno), 2);
  start_agents();
  loop(&CheckedHost::looked);
  try_ways();
  loop(&CheckedHost::tried);
  if (interrupted_by_ != 0)
    return give_up(fail(kErrOther, "check.interrupted", {{"signal", signal_words(interrupted_by_)}}),
                   128 + interrupted_by_);
  for (CheckedHost& host : hosts_)
    if (host.node->open()) {
      host.node->link().send(FrameKind::kLeave);
      host.node->flush();
    }
  unsigned failed = 0;
  std::fputs(check_words(hosts_, settings_, &failed).c_str(), stdout);
  const int status = printed();
  return failed > 0 ? 1 : status;
}

void Check::start_agents() {
  const std::string prefix = options_.prefix.empty() ? own_prefix() : options_.prefix;
  const AgentFacts agent = {
      .command = settings_.launch_agent, .daemon = prefix + "/bin/mpiexec", .patience_ns = settings_.start_timeout_ns};
  const AgentFacts here = {.command = "", .daemon = "/proc/self/exe", .patience_ns = settings_.start_timeout_ns};
  beat_ns_ = now_ns();
  for (unsigned i = 0; i < hosts_.size(); ++i) {
    CheckedHost& host = hosts_[i];
    host.node = std::make_unique<RemoteNode>(i, host.plan.name);
    host.began_ns = now_ns();
    if (const Status status = host.node->start(host.plan.here ? here : agent, inherited_, host.began_ns); !status.ok())
      host.failure = in_words(status);
  }
}

CheckOrder Check::order_for(unsigned host) const {
  CheckOrder order;
  order.options = options_;
  order.options.segments.clear();
  for (const unsigned segment : hosts_[host].plan.segments)
    order.options.segments.push_back(options_.segments[segment]);
  order.environment = environment_.entries();
  order.folder = current_folder();
  order.ways = {.host = host,
                .secret = secret_,
                .interfaces = settings_.tcp_interfaces,
                .ports = settings_.tcp_ports,
                .bytes = static_cast<std::uint32_t>(settings_.tcp_exchange),
                .timeout_ns = settings_.check_timeout_ns};
  return order;
}

/// Every host that listens is a target of every other one.
void Check::try_ways() {
  ways_until_ns_ = now_ns() + time_for_ways();
  for (unsigned i = 0; i < hosts_.size(); ++i) {
    CheckedHost& host = hosts_[i];
    std::vector<WayTarget> targets;
    // Each begins behind itself: hosts that all began with the first one would be too many for it.
    for (unsigned step = 1; step < hosts_.size(); ++step) {
      const unsigned other = (i + step) % static_cast<unsigned>(hosts_.size());
      const HostReport& report = hosts_[other].report;
      if (report.port == 0 || !hosts_[other].failure.empty()) continue;
      targets.push_back({.host = other, .addresses = report.addresses, .place = report.place, .port = report.port});
    }
    // Without a port of its own it has not read its settings.
    host.tried = !settings_.tcp || host.report.port == 0 || targets.empty();
    if (host.tried || !host.failure.empty()) continue;
    host.node->link().send(FrameKind::kTryWays, packed(targets));
  }
}

/// Longer than all of a host's ways can take, one after the other as far as they are not tried at one time.
std::uint64_t Check::time_for_ways() const {
  std::uint64_t addresses = 0, most = 1;
  for (const CheckedHost& host : hosts_) {
    const std::uint64_t own = host.report.addresses.size() / sizeof(ip::Candidate);
    addresses += own;
    most = std::max(most, own);
  }
  // A link-local address is tried over each link.
  return (addresses * most / WayProber::kMostCalls + 1) * settings_.check_timeout_ns + kSlack;
}

void Check::loop(bool CheckedHost::*told) {
  const auto is_waited_for = [told](const CheckedHost& host) { return host.failure.empty() && !(host.*told); };
  while (interrupted_by_ == 0 && std::any_of(hosts_.begin(), hosts_.end(), is_waited_for)) turn();
}

void Check::turn() {
  std::vector<pollfd> fds = {{signal_fd_, POLLIN, 0}};
  for (const CheckedHost& host : hosts_) host.node->add(&fds);
  if (poll(fds.data(), fds.size(), kTurnMs) < 0) return;
  const std::uint64_t now = now_ns();
  for (unsigned i = 0; i < hosts_.size(); ++i) {
    (void)hosts_[i].node->read(&fds[1 + i * RemoteNode::kDescriptors], now);
    take_frames(i);
  }
  if (fds[0].revents) handle_signals();
  reap();
  check_hosts(now);
  for (CheckedHost& host : hosts_) host.node->flush();
}

void Check::take_frames(unsigned which) {
  CheckedHost& host = hosts_[which];
  RemoteNode& node = *host.node;
  if (!host.failure.empty()) return;
  if (node.phase() == RemoteNode::Phase::kThere && node.trouble().empty()) {
    host.agent_ns = now_ns() - host.began_ns;
    node.link().send(FrameKind::kCheck, packed(order_for(which)));
    node.set_phase(RemoteNode::Phase::kOrdered);
  }
  for (Frame frame; node.trouble().empty() && node.open() && node.link().take(&frame);) {
    const FrameKind kind = frame.kind;
    const std::size_t bytes = frame.body.size();
    if (!take(host, frame))
      node.refuse(text("mpiexec there has sent %s, which cannot be read", frame_words(kind, bytes).c_str()));
  }
  if (node.link().broken() && node.trouble().empty())
    node.refuse(text("its agent has passed on %s", node.link().broken_words().c_str()));
}

/// False: the frame cannot be read, or has no place at this step.
bool Check::take(CheckedHost& host, const Frame& frame) {
  Unpacker from(frame.body);
  switch (frame.kind) {
    case FrameKind::kBeatBack:
      return from.done();
    case FrameKind::kRefused: {
      std::string sentence;
      if (!from(sentence).done()) return false;
      host.node->refuse(sentence);
      return true;
    }
    case FrameKind::kStep: {
      CheckStep step;
      if (host.looked || !from(step).done()) return false;
      if (host.steps.empty() || host.steps.back().over) host.steps.emplace_back();
      host.steps.back() = std::move(step);
      return true;
    }
    case FrameKind::kChecked:
      if (host.looked || !from(host.report).done() || host.report.addresses.size() % sizeof(ip::Candidate) != 0)
        return false;
      host.looked = true;
      host.node->set_phase(RemoteNode::Phase::kReady);
      return true;
    case FrameKind::kWays: {
      const auto is_strange = [this](const WayResult& way) { return way.host >= hosts_.size(); };
      if (!host.looked || host.tried || !from(host.ways).done() ||
          std::any_of(host.ways.begin(), host.ways.end(), is_strange))
        return false;
      host.tried = true;
      return true;
    }
    default:
      return false;
  }
}

/// Which hosts have failed, and signs of life to the others.
void Check::check_hosts(std::uint64_t now) {
  const bool beat = now >= beat_ns_ + kCheckBeat;
  if (beat) beat_ns_ = now;
  for (CheckedHost& host : hosts_) {
    RemoteNode& node = *host.node;
    if (beat && node.open()) node.link().send(FrameKind::kBeat);
    if (!host.failure.empty() || host.tried) continue;
    const bool late = host.looked && ways_until_ns_ != 0 && now >= ways_until_ns_;
    const bool overdue = node.deadline_ns() != 0 && now >= node.deadline_ns();
    if (node.trouble().empty() && !node.over(now) && !overdue && !late) continue;
    if (!host.looked)
      host.failure = in_words(node.failure(now));
    else
      host.failure = in_words(fail(kErrOther, "check.lost",
                                   {{"host", brief(host.plan.name)},
                                    {"lower", !node.trouble().empty() ? brief(node.trouble())
                                              : late                  ? "it has not told of them in time"
                                                                      : node.end_words()}}));
  }
}

void Check::handle_signals() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (asks_to_end(static_cast<int>(info.ssi_signo))) interrupted_by_ = static_cast<int>(info.ssi_signo);
    if (info.ssi_signo == SIGTSTP) raise(SIGSTOP);
  }
}

void Check::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    for (unsigned i = 0; i < hosts_.size(); ++i)
      if (hosts_[i].node->take_end(pid, status, now_ns())) take_frames(i);
  }
}

}  // namespace ashlar::mpiexec

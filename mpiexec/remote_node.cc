#include "mpiexec/remote_node.h"

#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/processors.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kMostSaid = 4096;  // of what an agent says, the end

void keep_end(std::string* text) {
  if (text->size() > kMostSaid) text->erase(0, text->size() - kMostSaid);
}

std::string status_words(int status) {
  if (WIFSIGNALED(status)) return "was killed by " + signal_words(WTERMSIG(status));
  return text("ended with exit status %d", WEXITSTATUS(status));
}

/// The last lines of a text, as one.
std::string last_lines(const std::string& all) {
  std::string out;
  for (const char c : all) out += c == '\n' || c == '\r' ? ' ' : c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out.size() > 300 ? "..." + out.substr(out.size() - 300) : out;
}

}  // namespace

DaemonLine DaemonLine::of_this_process() {
  DaemonLine line;
  line.version = ASHLAR_VERSION "/" + std::to_string(launch::kBoardVersion);
  utsname facts = {};
  uname(&facts);
  line.machine = facts.machine;
  line.host = facts.nodename[0] != '\0' ? facts.nodename : "localhost";
  line.cpus = static_cast<unsigned>(own_processors().size());
  return line;
}

std::string DaemonLine::text() const {
  return mpiexec::text("%s %s %s %u %s\n", kMark, version.c_str(), machine.c_str(), cpus, host.c_str());
}

bool DaemonLine::parse(std::string_view from) {
  char words[3][128] = {};
  int used = 0;
  const std::string line(from);
  const std::size_t at = line.find(kMark);
  if (at == std::string::npos || std::sscanf(line.c_str() + at + sizeof kMark - 1, " %127s %127s %u %127s%n", words[0],
                                             words[1], &cpus, words[2], &used) != 4)
    return false;
  version = words[0];
  machine = words[1];
  host = words[2];
  return true;
}

void RemoteNode::begin(const AgentOrder& order, std::uint64_t patience_ns, std::uint64_t now) {
  ++tries_;
  words_ = order.words();
  daemon_ = order.daemon;
  began_ns_ = heard_ns_ = now;
  patience_ns_ = patience_ns;
  deadline_ns_ = now + patience_ns;
}

Status RemoteNode::start(const AgentFacts& agent, const Inherited& inherited, std::uint64_t now) {
  const AgentOrder order = {.command = agent.command, .host = host_, .daemon = agent.daemon};
  begin(order, agent.patience_ns, now);
  ASHLAR_TRY(agent_.start(order, inherited));
  link_ = Link(std::move(agent_.in), std::move(agent_.out));
  return {};
}

void RemoteNode::start_through(RemoteNode& above, const AgentFacts& agent, std::uint64_t now) {
  const AgentOrder order = {.command = agent.command, .host = host_, .daemon = agent.daemon};
  begin(order, agent.patience_ns, now);
  words_ += " on host " + above.host();
  // One that is stuck there leaves time for another way.
  deadline_ns_ = now + agent.patience_ns / 2;
  above_ = &above;
  ++above.behind_;
  above.link().send(FrameKind::kLead, packed(node_, order));
  link_ = Link(above.link(), node_);
}

void RemoteNode::give_way_up() {
  if (above_ != nullptr && above_->open()) above_->link().send(FrameKind::kForget, packed(node_));
  if (above_ != nullptr) --above_->behind_;
  above_ = nullptr;
  link_ = Link();
  phase_ = Phase::kStarting;
  ended_ = false;
  ended_ns_ = deadline_ns_ = 0;
  noise_.clear();
  said_.clear();
  trouble_.clear();
}

void RemoteNode::take_bytes(std::string_view bytes, std::uint64_t now) {
  heard_ns_ = now;
  link_.feed(bytes);
  take_lines();
}

void RemoteNode::take_said(std::string_view bytes) {
  said_.append(bytes);
  keep_end(&said_);
}

void RemoteNode::take_over(const AgentOver& news, std::uint64_t now) {
  if (ended_ns_ == 0) ended_ns_ = now;
  ended_ = news.ended;
  wait_status_ = news.wait_status;
  if (!news.failure.empty()) trouble_ = news.failure;
}

void RemoteNode::lose_way() {
  if (trouble_.empty()) trouble_ = "the way to it leads through host " + shown(above_->host()) + ", which is lost";
}

void RemoteNode::add(std::vector<pollfd>* fds) const {
  fds->push_back({phase_ == Phase::kGone || over(0) ? -1 : link_.in(), POLLIN, 0});
  fds->push_back({link_.wants_write(), POLLOUT, 0});
  fds->push_back({agent_.err.get(), POLLIN, 0});
}

bool RemoteNode::read(const pollfd* fds, std::uint64_t now) {
  if (fds[2].revents) {
    char bytes[4096];
    const ssize_t n = ::read(agent_.err.get(), bytes, sizeof bytes);
    if (n > 0)
      take_said({bytes, static_cast<std::size_t>(n)});
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      agent_.err.reset();
  }
  if (fds[0].revents) {
    heard_ns_ = now;
    if (!link_.read_some() && ended_ns_ == 0) ended_ns_ = now;
  }
  take_lines();
  return trouble_.empty();
}

void RemoteNode::take_lines() {
  for (std::string line; phase_ == Phase::kStarting && link_.take_line(&line);) {
    if (!line_.parse(line)) {
      noise_ += line + "\n";
      keep_end(&noise_);
      continue;
    }
    phase_ = Phase::kThere;
    led_there_ = true;
    deadline_ns_ = began_ns_ + patience_ns_;
    const DaemonLine own = DaemonLine::of_this_process();
    if (line_.version != own.version)
      trouble_ = text("%s there is of version %s, and this one of version %s", shown(daemon_).c_str(),
                      shown(line_.version).c_str(), own.version.c_str());
    else if (line_.machine != own.machine)
      trouble_ = text("the host is of kind %s, and this one of kind %s; a job runs on hosts of one kind",
                      shown(line_.machine).c_str(), own.machine.c_str());
  }
}

const char* RemoteNode::step_words() const {
  switch (phase_) {
    case Phase::kStarting:
    case Phase::kThere:
      return "before it was told of the job";
    case Phase::kOrdered:
      return "while it prepared the job";
    case Phase::kReady:
      return "before its ranks were to start";
    default:
      return "while the job ran";
  }
}

bool RemoteNode::take_end(pid_t pid, int wait_status, std::uint64_t now) {
  if (!agent_.take_end(pid)) return false;
  ended_ = true;
  wait_status_ = wait_status;
  // Its last words are in the pipes.
  const pollfd all[kDescriptors] = {{-1, 0, POLLIN}, {-1, 0, 0}, {-1, 0, POLLIN}};
  (void)read(all, now);
  if (ended_ns_ == 0) ended_ns_ = now;
  return true;
}

bool RemoteNode::over(std::uint64_t now) const {
  if (phase_ == Phase::kGone) return true;
  return ended_ns_ != 0 && (ended_ || now >= ended_ns_ + kLastWords);
}

std::string RemoteNode::quoted() const {
  std::string out = last_lines(said_);
  const std::string before = last_lines(noise_ + std::string(phase_ == Phase::kStarting ? link_.unread() : ""));
  if (!before.empty()) out += (out.empty() ? "" : "; on standard output: ") + before;
  return shown(out);
}

bool RemoteNode::may_be_over_soon() const {
  // ssh speaks English in every locale.
  static constexpr std::string_view kSoon[] = {"Could not resolve hostname", "kex_exchange_identification",
                                               "ssh_exchange_identification"};
  const auto is_said = [this](std::string_view words) { return said_.find(words) != std::string::npos; };
  return phase_ == Phase::kStarting && ended_ && WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 255 &&
         std::any_of(std::begin(kSoon), std::end(kSoon), is_said);
}

std::string RemoteNode::agent() const { return shown(words_); }

std::string RemoteNode::end_words() const {
  if (!ended_) return "its agent, " + shown(words_) + ", closed the connection";
  return "its agent, " + shown(words_) + ", " + status_words(wait_status_);
}

Status RemoteNode::retry(std::uint64_t for_ns) const {
  return fail(
      kErrOther, "host.again",
      {{"host", brief(host_)}, {"said", brief(quoted())}, {"time", text("%g s", static_cast<double>(for_ns) / 1e9)}});
}

Status RemoteNode::failure(std::uint64_t now) const {
  if (refused_) {
    std::string why = trouble_.substr(0, 400);
    std::replace(why.begin(), why.end(), '\n', ' ');
    return fail(kErrOther, "host.refused", {{"host", brief(host_)}, {"lower", shown(why)}});
  }
  std::string what = trouble_;
  if (what.empty() && ended_ && WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 127)
    what = text("it ended with exit status 127: there is no %s on that host", shown(daemon_).c_str());
  if (what.empty() && ended_ && WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 126)
    what = text("it ended with exit status 126: %s cannot be run on that host", shown(daemon_).c_str());
  if (what.empty() && ended_)
    what = "it " + status_words(wait_status_) +
           (phase_ == Phase::kStarting ? " before mpiexec there had said anything"
                                       : " while mpiexec there prepared the job") +
           (tries_ > 1 ? text(", in %u tries", tries_) : "");
  if (what.empty() && ended_ns_ != 0) what = "it closed the connection before the job began";
  if (what.empty() && now >= deadline_ns_)
    what = text("%s after %g s (mpiexec.start_timeout)",
                phase_ == Phase::kStarting ? "mpiexec there has not said anything" : "mpiexec there is not ready",
                static_cast<double>(patience_ns_) / 1e9);
  const std::string said = quoted();
  return fail(kErrOther, "host.agent",
              {{"host", brief(host_)},
               {"agent", brief(words_)},
               {"lower", what},
               {"said", phase_ == Phase::kStarting || !said.empty() ? said : ""}});
}

std::string RemoteNode::take_said() {
  const std::size_t end = said_.rfind('\n');
  if (end == std::string::npos) return {};
  std::string out = said_.substr(0, end + 1);
  said_.erase(0, end + 1);
  return out;
}

void RemoteNode::close() {
  // Elsewhere the end of a pipe says so; this one leads on to others.
  if (above_ != nullptr && above_->open() && !ended_) above_->link().send(FrameKind::kForget, packed(node_));
  link_.close();
  agent_.err.reset();
  phase_ = Phase::kGone;
}

void RemoteNode::end_agent(std::uint64_t until) { agent_.end(led_there_ ? until : 0); }

}  // namespace ashlar::mpiexec

#include "mpiexec/remote_node.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"
#include "mpiexec/topology.h"

extern char** environ;

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kMostSaid = 4096;  // of what an agent says, the end

void keep_end(std::string* text) {
  if (text->size() > kMostSaid) text->erase(0, text->size() - kMostSaid);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

/// The agent's words, with the host in the place of %h, or behind them; then the daemon's, as one that needs no quotes
/// in any shell.
std::vector<std::string> agent_words(const AgentFacts& agent, const std::string& host) {
  std::vector<std::string> words = words_of(agent.command);
  bool named = words.empty();
  for (std::string& word : words)
    for (std::size_t at; (at = word.find("%h")) != std::string::npos; named = true) {
      word.replace(at, 2, host);
      if (host.find("%h") != std::string::npos) break;
    }
  if (!named) words.push_back(host);
  return words;
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
  line.cpus = static_cast<unsigned>(allowed_cpus().size());
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

Status RemoteNode::start(const AgentFacts& agent, const Inherited& inherited, std::uint64_t now) {
  std::vector<std::string> words = agent_words(agent, host_);
  for (const std::string& word : words) agent_ += (agent_.empty() ? "" : " ") + word;
  if (words.empty()) agent_ = agent.daemon;
  daemon_ = agent.daemon;
  words.push_back(agent.daemon);
  words.emplace_back("--daemon");
  deadline_ns_ = now + agent.patience_ns;
  patience_ns_ = agent.patience_ns;
  heard_ns_ = now;
  std::string file;
  const char* const path = std::getenv("PATH");
  ASHLAR_TRY(add_facts(find_program(words[0], "", "", path != nullptr ? path : "/usr/bin:/bin", &file),
                       {{"peer_host", brief(host_)}}));
  int to[2], from[2], err[2];
  if (!make_pipe(to)) return cannot("make a pipe to the agent of host " + brief(host_), errno);
  const Descriptor theirs_in(to[0]);
  Descriptor ours_out(to[1]);
  if (!make_pipe(from)) return cannot("make a pipe from the agent of host " + brief(host_), errno);
  const Descriptor theirs_out(from[1]);
  Descriptor ours_in(from[0]);
  if (!make_pipe(err)) return cannot("make a pipe from the agent of host " + brief(host_), errno);
  const Descriptor theirs_err(err[1]);
  err_ = Descriptor(err[0]);
  fcntl(err_.get(), F_SETFL, O_NONBLOCK);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  SpawnRequest request;
  request.file = file.c_str();
  request.argv = argv.data();
  request.envp = environ;
  request.in = theirs_in.get();
  request.out = theirs_out.get();
  request.err = theirs_err.get();
  request.inherited = &inherited;
  const SpawnResult result = spawn(request);
  if (result.pid < 0)
    return fail(kErrOther, "host.agent",
                {{"host", brief(host_)},
                 {"agent", brief(agent_)},
                 {"lower", text("it cannot be run: %s", exec_error_words(file, result.error).c_str())}});
  pid_ = result.pid;
  link_ = Link(std::move(ours_in), std::move(ours_out));
  return {};
}

void RemoteNode::add(std::vector<pollfd>* fds) const {
  fds->push_back({phase_ == Phase::kGone || over(0) ? -1 : link_.in(), POLLIN, 0});
  fds->push_back({link_.wants_write(), POLLOUT, 0});
  fds->push_back({err_.get(), POLLIN, 0});
}

bool RemoteNode::read(const pollfd* fds, std::uint64_t now) {
  if (fds[2].revents) {
    char bytes[4096];
    const ssize_t n = ::read(err_.get(), bytes, sizeof bytes);
    if (n > 0)
      said_.append(bytes, static_cast<std::size_t>(n));
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      err_.reset();
    keep_end(&said_);
  }
  if (fds[0].revents) {
    heard_ns_ = now;
    if (!link_.read_some() && ended_ns_ == 0) ended_ns_ = now;
  }
  for (std::string line; phase_ == Phase::kStarting && link_.take_line(&line);) {
    if (!line_.parse(line)) {
      noise_ += line + "\n";
      keep_end(&noise_);
      continue;
    }
    phase_ = Phase::kThere;
    led_there_ = true;
    const DaemonLine own = DaemonLine::of_this_process();
    if (line_.version != own.version)
      trouble_ = text("%s there is of version %s, and this one of version %s", shown(daemon_).c_str(),
                      shown(line_.version).c_str(), own.version.c_str());
    else if (line_.machine != own.machine)
      trouble_ = text("the host is of kind %s, and this one of kind %s; a job runs on hosts of one kind",
                      shown(line_.machine).c_str(), own.machine.c_str());
  }
  return trouble_.empty();
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
  if (pid != pid_ || ended_) return false;
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

std::string RemoteNode::agent() const { return shown(agent_); }

std::string RemoteNode::end_words() const {
  if (!ended_) return "its agent, " + shown(agent_) + ", closed the connection";
  return "its agent, " + shown(agent_) + ", " + status_words(wait_status_);
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
                                       : " while mpiexec there prepared the job");
  if (what.empty() && ended_ns_ != 0) what = "it closed the connection before the job began";
  if (what.empty() && now >= deadline_ns_)
    what = text("%s after %g s (mpiexec.start_timeout)",
                phase_ == Phase::kStarting ? "mpiexec there has not said anything" : "mpiexec there is not ready",
                static_cast<double>(patience_ns_) / 1e9);
  const std::string said = quoted();
  return fail(kErrOther, "host.agent",
              {{"host", brief(host_)},
               {"agent", brief(agent_)},
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
  link_.close();
  err_.reset();
  phase_ = Phase::kGone;
}

void RemoteNode::end_agent(std::uint64_t until) {
  if (pid_ <= 0 || ended_) return;
  ended_ = true;
  constexpr unsigned kLookUs = 10'000;
  while (led_there_ && now_ns() < until) {
    if (waitpid(pid_, &wait_status_, WNOHANG) != 0) return;
    usleep(kLookUs);
  }
  kill(-pid_, SIGKILL);
  waitpid(pid_, &wait_status_, 0);
}

}  // namespace ashlar::mpiexec

#include "mpiexec/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

extern char** environ;

namespace ashlar::mpiexec {
namespace {

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

std::vector<std::string> agent_words(const std::string& command, const std::string& host) {
  std::vector<std::string> words = words_of(command);
  bool named = words.empty();
  for (std::string& word : words)
    for (std::size_t at; (at = word.find("%h")) != std::string::npos; named = true) {
      word.replace(at, 2, host);
      if (host.find("%h") != std::string::npos) break;
    }
  if (!named) words.push_back(host);
  return words;
}

}  // namespace

std::string AgentOrder::words() const {
  std::string line;
  for (const std::string& word : agent_words(command, host)) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? daemon : line;
}

Status Agent::start(const AgentOrder& order, const Inherited& inherited) {
  std::vector<std::string> words = agent_words(order.command, order.host);
  // The daemon's are words that need no quotes in any shell.
  words.push_back(order.daemon);
  words.emplace_back("--daemon");
  const std::string host = brief(order.host);
  std::string file;
  const char* const path = std::getenv("PATH");
  ASHLAR_TRY(add_facts(find_program(words[0], "", "", path != nullptr ? path : "/usr/bin:/bin", &file),
                       {{"peer_host", host}}));
  int to[2], from[2], said[2];
  if (!make_pipe(to)) return cannot("make a pipe to the agent of host " + host, errno);
  const Descriptor theirs_in(to[0]);
  Descriptor ours_out(to[1]);
  if (!make_pipe(from)) return cannot("make a pipe from the agent of host " + host, errno);
  const Descriptor theirs_out(from[1]);
  Descriptor ours_in(from[0]);
  if (!make_pipe(said)) return cannot("make a pipe from the agent of host " + host, errno);
  const Descriptor theirs_err(said[1]);
  Descriptor ours_err(said[0]);
  fcntl(ours_err.get(), F_SETFL, O_NONBLOCK);
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
                {{"host", host},
                 {"agent", brief(order.words())},
                 {"lower", text("it cannot be run: %s", exec_error_words(file, result.error).c_str())}});
  pid_ = result.pid;
  in = std::move(ours_in);
  out = std::move(ours_out);
  err = std::move(ours_err);
  return {};
}

bool Agent::take_end(pid_t pid) {
  if (pid != pid_ || pid <= 0) return false;
  pid_ = -1;
  return true;
}

void Agent::end(std::uint64_t until) {
  if (pid_ <= 0) return;
  const pid_t pid = std::exchange(pid_, -1);
  constexpr unsigned kLookUs = 10'000;
  while (now_ns() < until) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return;
    usleep(kLookUs);
  }
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace ashlar::mpiexec

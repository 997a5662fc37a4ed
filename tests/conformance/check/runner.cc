#include "tests/conformance/check/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "framework/base/clock.h"
#include "tests/conformance/check/subject.h"

namespace ashlar::test {
namespace {

constexpr std::size_t kMostSaid = 1 << 20;
constexpr unsigned kMostLines = 16;  // of what a test that fails says

template <class Take>
void each_line(const std::string& text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

bool ended_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

}  // namespace

std::string CaseName::words() const {
  const std::size_t dot = full.find('.'), slash = full.find('/', dot);
  const std::string name = full.substr(dot + 1, slash - dot - 1), of = full.substr(slash + 1);
  std::string out = of == subject().name ? "" : of + ": ";
  const std::size_t prefix = out.size();
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) && out.size() > prefix) out += ' ';
    out += static_cast<char>(std::tolower(letter));
  }
  return out;
}

Runner::Runner(const std::string& file, unsigned seconds) : file_(std::filesystem::absolute(file)), seconds_(seconds) {
  std::error_code none;
  std::string name = std::filesystem::temp_directory_path(none) / "ashlar-check-XXXXXX";
  if (mkdtemp(name.data())) folder_ = name;
}

Runner::~Runner() {
  std::error_code none;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, none);
}

Runner::Ended Runner::child(const std::string& option) const {
  Ended ended;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.status = 0x7f00, .in_time = true, .output = std::strerror(errno)};
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);  // with the processes that a test makes
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    if (!folder_.empty() && chdir(folder_.c_str()) != 0) _exit(127);
    execl("/proc/self/exe", "ashlar_component_check", "--in-child", file_.c_str(), option.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  const std::uint64_t until = now_ns() + seconds_ * std::uint64_t{1'000'000'000};
  char piece[4096];
  while (pid > 0) {
    const std::uint64_t now = now_ns();
    pollfd ready{.fd = ends[0], .events = POLLIN, .revents = 0};
    ended.in_time = now < until && poll(&ready, 1, static_cast<int>((until - now) / 1'000'000 + 1)) != 0;
    if (!ended.in_time) break;
    const ssize_t got = read(ends[0], piece, sizeof piece);
    if (got == 0) break;
    if (got > 0 && ended.output.size() < kMostSaid) ended.output.append(piece, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (!ended.in_time) kill(-pid, SIGKILL);
  while (pid > 0 && waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) continue;
  kill(-pid, SIGKILL);
  return ended;
}

std::string Runner::how(const Ended& ended) const {
  if (!ended.in_time) return "it does not end within " + std::to_string(seconds_) + " s";
  if (WIFSIGNALED(ended.status))
    return "it ends the process by signal " + std::to_string(WTERMSIG(ended.status)) + " (" +
           strsignal(WTERMSIG(ended.status)) + ")";
  return "it ends the process with exit status " + std::to_string(WEXITSTATUS(ended.status));
}

bool Runner::list(std::vector<CaseName>* out, std::string* said) const {
  const Ended ended = child("--gtest_list_tests");
  if (!ended_with(ended.status, kAllRight)) {
    *said = how(ended) + "\n" + ended.output;
    return false;
  }
  std::string suite;
  each_line(ended.output, [&](std::string line) {
    line.resize(std::min(line.find("  #"), line.size()));
    while (line.ends_with(' ')) line.pop_back();
    if (!line.starts_with("  ") && line.ends_with('.')) suite = line;
    if (line.starts_with("  ") && suite.find('/') != std::string::npos) out->push_back({suite + line.substr(2)});
  });
  return true;
}

Outcome Runner::run(const CaseName& test) const {
  const Ended ended = child("--gtest_filter=" + test.full);
  Outcome outcome;
  unsigned lines = 0;
  // GoogleTest's own lines begin with a bracket, or say what it runs.
  each_line(ended.output, [&](const std::string& line) {
    if (line.starts_with("[  SKIPPED ]")) outcome.kind = Outcome::Kind::kSkipped;
    const bool own = line.starts_with('[') || line.starts_with("Note: ") || line.empty() || line.starts_with(" 1 ") ||
                     line.ends_with(": Failure") || line.ends_with(": Skipped") ||
                     line.find("FAILED TEST") != std::string::npos;
    if (!own && ++lines <= kMostLines) outcome.said += line + "\n";
  });
  if (lines > kMostLines) outcome.said += "... and " + std::to_string(lines - kMostLines) + " more lines\n";
  if (ended_with(ended.status, kAllRight)) return outcome;
  outcome.kind = Outcome::Kind::kWrong;
  if (!ended_with(ended.status, kSomeWrong)) outcome.said = how(ended) + "\n" + outcome.said;
  return outcome;
}

}  // namespace ashlar::test

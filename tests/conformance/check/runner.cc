#include "tests/conformance/check/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <thread>

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

// What a test says, without GoogleTest's own lines: those begin with a bracket, or say what it runs.
std::string complaints(const std::string& output) {
  std::string out;
  unsigned lines = 0;
  each_line(output, [&](const std::string& line) {
    const bool own = line.starts_with('[') || line.starts_with("Note: ") || line.empty() || line.starts_with(" 1 ") ||
                     line.starts_with(kStep) || line.ends_with(": Failure") || line.ends_with(": Skipped") ||
                     line.find("FAILED TEST") != std::string::npos;
    if (!own && ++lines <= kMostLines) out += line + "\n";
  });
  if (lines > kMostLines) out += "... and " + std::to_string(lines - kMostLines) + " more lines\n";
  return out;
}

// "query: ", when that is what the component was asked for last; "".
std::string last_step(const std::string& output) {
  std::string step;
  each_line(output, [&](const std::string& line) {
    if (line.starts_with(kStep)) step = line.substr(std::strlen(kStep));
  });
  return step.empty() ? step : step + ": ";
}

// "rank 1: WORDS", or "ranks 0, 2: WORDS" of those that say the same.
std::string by_rank(const std::vector<Verdict>& verdicts) {
  std::map<std::string, std::string> ranks;
  for (const Verdict& verdict : verdicts) {
    std::string& list = ranks[complaints(verdict.said)];
    list += (list.empty() ? "" : ", ") + std::to_string(verdict.rank);
  }
  std::string out;
  for (const auto& [words, list] : ranks) {
    if (verdicts.front().ranks > 1) out += (list.find(',') == std::string::npos ? "rank " : "ranks ") + list + ": ";
    out += words;
  }
  return out;
}

std::string own_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none);
}

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

bool CaseName::of_job() const { return full.find("/Job.") != std::string::npos; }

Runner::Runner(const std::string& file, unsigned seconds, std::vector<std::string> launcher,
               std::vector<std::string> settings)
    : file_(std::filesystem::absolute(file)),
      seconds_(seconds),
      launcher_(std::move(launcher)),
      settings_(std::move(settings)) {
  std::error_code none;
  std::string name = std::filesystem::temp_directory_path(none) / "ashlar-check-XXXXXX";
  if (mkdtemp(name.data())) folder_ = name;
}

Runner::~Runner() {
  std::error_code none;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, none);
}

Runner::Ended Runner::child(const std::string& option) const { return child(in_child(option)); }

std::vector<std::string> Runner::in_child(const std::string& option) const {
  std::vector<std::string> words = {own_program(), "--in-child", file_, option};
  for (const std::string& setting : settings_) words.insert(words.end(), {"--set", setting});
  return words;
}

Runner::Ended Runner::child(const std::vector<std::string>& words) const {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Ended ended;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.status = 0x7f00, .in_time = true, .output = std::strerror(errno)};
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);  // with the processes that a test makes
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    if (!folder_.empty() && chdir(folder_.c_str()) != 0) _exit(127);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "%s cannot be started: %s\n", argv[0], std::strerror(errno));
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
  // A process that closes its output may go on.
  pid_t done = 0;
  while (pid > 0 && ended.in_time && (done = waitpid(pid, &ended.status, WNOHANG)) == 0) {
    ended.in_time = now_ns() < until;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (pid > 0 && done == 0) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) continue;
  }
  kill(-pid, SIGKILL);
  return ended;
}

std::string Runner::how(const Ended& ended, const char* what) const {
  const std::string begin = last_step(ended.output) + what;
  if (!ended.in_time) return begin + " does not end within " + std::to_string(seconds_) + " s";
  const std::string ends = begin + (std::strcmp(what, "it") == 0 ? " ends the process" : " ends");
  if (WIFSIGNALED(ended.status))
    return ends + " by signal " + std::to_string(WTERMSIG(ended.status)) + " (" + strsignal(WTERMSIG(ended.status)) +
           ")";
  return ends + " with exit status " + std::to_string(WEXITSTATUS(ended.status));
}

bool Runner::list(std::vector<CaseName>* out, std::string* said) const {
  const Ended ended = child("--gtest_list_tests");
  if (!ended_with(ended.status, kAllRight)) {
    *said = how(ended) + "\n" + complaints(ended.output);
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

Outcome Runner::run(const CaseName& test) const { return test.of_job() ? run_job(test) : run_alone(test); }

Outcome Runner::run_alone(const CaseName& test) const {
  const Ended ended = child("--gtest_filter=" + test.full);
  Outcome outcome{.said = complaints(ended.output)};
  each_line(ended.output, [&](const std::string& line) {
    if (line.starts_with("[  SKIPPED ]")) outcome.kind = Outcome::Kind::kSkipped;
  });
  if (ended_with(ended.status, kAllRight)) return outcome;
  outcome.kind = Outcome::Kind::kWrong;
  if (!ended_with(ended.status, kSomeWrong)) outcome.said = how(ended) + "\n" + outcome.said;
  return outcome;
}

bool Runner::can_launch(std::string* said) const {
  std::vector<std::string> words = launcher_;
  words.insert(words.end(), {own_program(), "--version"});
  const Ended ended = child(words);
  *said = how(ended, "the launcher") + "\n" + ended.output;
  return ended_with(ended.status, 0);
}

// Every rank runs the test and leaves its verdict.
Outcome Runner::run_job(const CaseName& test) const {
  if (folder_.empty())
    return {.kind = Outcome::Kind::kWrong, .said = "the ranks have no folder for their findings: set TMPDIR"};
  const std::string folder = folder_ + "/job";
  std::error_code none;
  std::filesystem::create_directory(folder, none);
  std::vector<std::string> words = launcher_;
  const std::vector<std::string> part = in_child("--gtest_filter=" + test.full);
  words.insert(words.end(), part.begin(), part.end());
  words.insert(words.end(), {"--rank", folder});
  const Ended ended = child(words);
  std::string of_others;
  const std::vector<Verdict> verdicts = read_verdicts(folder, &of_others);
  std::filesystem::remove_all(folder, none);
  return judge(verdicts, ended, of_others);
}

// The test is right when every rank says so; one that ends the job is right when the launcher says that the job failed.
Outcome Runner::judge(const std::vector<Verdict>& verdicts, const Ended& ended, const std::string& of_others) const {
  const char* const what = launcher_.empty() ? "it" : "the launcher";
  std::vector<Verdict> wrong;
  bool every_rank = !verdicts.empty() && verdicts.size() == verdicts.front().ranks, skipped = !verdicts.empty();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    every_rank = every_rank && verdicts[i].rank == i;
    skipped = skipped && verdicts[i].kind == Verdict::Kind::kSkipped;
    if (verdicts[i].kind == Verdict::Kind::kWrong) wrong.push_back(verdicts[i]);
  }
  if (!wrong.empty()) return {.kind = Outcome::Kind::kWrong, .said = by_rank(wrong)};
  if (skipped) return {.kind = Outcome::Kind::kSkipped, .said = complaints(verdicts.front().said)};
  if (!every_rank || !ended.in_time) {
    std::string said = how({ended.status, ended.in_time, launcher_.empty() ? of_others : ""}, what);
    if (!launcher_.empty()) {
      const std::string of = verdicts.empty() ? "" : ", of " + std::to_string(verdicts.front().ranks) + " ranks";
      said = last_step(of_others) + std::to_string(verdicts.size()) + " processes came to the end of the test" + of +
             "; " + said;
    }
    return {.kind = Outcome::Kind::kWrong, .said = said + "\n" + complaints(of_others + ended.output)};
  }
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != Verdict::Kind::kEnds) continue;
    if (ended_with(ended.status, 0))
      return {.kind = Outcome::Kind::kWrong, .said = "the job's end by abort() is no failure: " + how(ended, what)};
    if (ended.output.find(verdict.said) == std::string::npos)
      return {.kind = Outcome::Kind::kWrong,
              .said = "the launcher does not show '" + verdict.said + "':\n" + ended.output};
  }
  return {};
}

}  // namespace ashlar::test

#include "mpiexec/status_query.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "framework/base/clock.h"

namespace ashlar::mpiexec {
namespace {

using launch::BoardSlot;
using launch::RankEnd;
using launch::RankState;

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kPatience = 1000 * kMillisecond;  // with ranks that do not answer
constexpr std::uint64_t kAfterOne = 500 * kMillisecond;   // a busy machine: as long as answers come, there may be more
constexpr std::uint64_t kMostPatience = 5000 * kMillisecond;
constexpr std::uint64_t kFarPatience =
    1000 * kMillisecond;  // more with those of other nodes, whose daemon is patient too

bool runs(BoardSlot& slot) { return slot.end.load() == static_cast<std::uint32_t>(RankEnd::kRuns); }
RankState state_of(BoardSlot& slot) { return static_cast<RankState>(slot.state.load()); }

const char* process_words(char process) {
  switch (process) {
    case 'T':
      return "is stopped";
    case 'R':
      return "computes";
    case 'D':
      return "is in a system call that cannot be interrupted";
    case 'S':
      return "sleeps";
    default:
      return "";
  }
}

}  // namespace

plugin::Account StatusQuery::account_of(std::uint32_t rank, const launch::BoardText& page) const {
  char text[launch::kAccountBytes];
  std::size_t length = 0;
  if (!page.read(text, &length)) return {};
  plugin::Account account = plugin::Account::parse({text, length});
  if (account.since_ns != 0 && !launch::board_has(board_, rank))
    account.since_ns += static_cast<std::uint64_t>(launch::board_far(board_, rank).clock.load());
  return account;
}

StatusQuery::Process StatusQuery::look_at(std::uint32_t pid) {
  Process out;
  char path[40], stat[1024];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  const ssize_t n = read(fd, stat, sizeof stat - 1);
  close(fd);
  if (n <= 0) return out;
  stat[n] = 0;
  const char* const at = std::strrchr(stat, ')');
  unsigned long long user = 0, system = 0;
  if (at &&
      std::sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &out.state, &user, &system) == 3)
    out.cpu_ticks = user + system;
  return out;
}

void StatusQuery::refresh() {
  for (unsigned r = 0; r < board_->ranks; ++r) launch::board_slot(board_, r).news.fetch_add(1);
}

void StatusQuery::start() {
  asked_ns_ = now_ns();
  answers_ = 0;
  bool far = false;
  for (unsigned r = 0; r < board_->ranks; ++r) {
    BoardSlot& slot = launch::board_slot(board_, r);
    const bool here = launch::board_has(board_, r);
    if (state_of(slot) != RankState::kAbsent && here) processes_[r] = look_at(slot.pid.load());
    far = far || (!here && runs(slot) && state_of(slot) == RankState::kInitialized);
    ask(slot);
    slot.news.fetch_add(1);
  }
  patient_until_ns_ = asked_ns_ + kPatience + (far ? kFarPatience : 0);
  if (far) ring();
}

/// The launcher, which may be another process than this one, looks at its board.
void StatusQuery::ring() const {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%u/fd/%d", board_->launcher_pid, board_->bell);
  const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, "q", 1);  // full: it is about to look anyway
  close(fd);
}

void StatusQuery::ask(BoardSlot& slot) const {
  if (about_ == About::kStatus)
    slot.asked.fetch_add(1);
  else if (slot.account != 0)
    launch::board_variables(board_, slot).asked.fetch_add(1);
}

bool StatusQuery::has_answered(BoardSlot& slot) const {
  if (about_ == About::kStatus) return slot.answered.load() == slot.asked.load();
  if (slot.account == 0) return false;
  const launch::BoardVariables& variables = launch::board_variables(board_, slot);
  return variables.answered.load(std::memory_order_acquire) == variables.asked.load();
}

bool StatusQuery::has_answered(std::uint32_t rank) const {
  BoardSlot& slot = launch::board_slot(board_, rank);
  return runs(slot) && state_of(slot) == RankState::kInitialized && has_answered(slot);
}

plugin::Variables StatusQuery::variables(std::uint32_t rank) const {
  const BoardSlot& slot = launch::board_slot(board_, rank);
  if (slot.account == 0) return {};
  const auto text = std::make_unique<char[]>(launch::kVariablesBytes);
  std::size_t length = 0;
  if (!launch::variables_text(board_, slot).read(text.get(), &length)) return {};
  return plugin::Variables::parse({text.get(), length});
}

bool StatusQuery::finished() {
  unsigned expected = 0, answers = 0;
  for (unsigned r = 0; r < board_->ranks; ++r) {
    BoardSlot& slot = launch::board_slot(board_, r);
    if (!runs(slot) || state_of(slot) != RankState::kInitialized) continue;
    ++expected;
    if (has_answered(slot)) ++answers;
  }
  if (answers == expected) return true;
  const std::uint64_t now = now_ns();
  if (answers > answers_) patient_until_ns_ = std::max(patient_until_ns_, now + kAfterOne);
  answers_ = answers;
  return now >= std::min(patient_until_ns_, asked_ns_ + kMostPatience);
}

char StatusQuery::process_of(std::uint32_t rank) const {
  if (!launch::board_has(board_, rank)) return static_cast<char>(launch::board_far(board_, rank).process.load());
  const double ticks_passed =
      static_cast<double>(now_ns() - asked_ns_) * 1e-9 * static_cast<double>(sysconf(_SC_CLK_TCK));
  const Process process = look_at(launch::board_slot(board_, rank).pid.load());
  const double used = static_cast<double>(process.cpu_ticks - processes_[rank].cpu_ticks);
  if (process.state == 'T' || process.state == 't') return 'T';
  if (process.state == 'R' || (ticks_passed > 0 && used > ticks_passed / 4)) return 'R';
  return process.state == 'D' || process.state == 'S' ? process.state : 0;
}

std::vector<RankStatus> StatusQuery::statuses() {
  std::vector<RankStatus> out(board_->ranks);
  const std::uint64_t now = now_ns();
  for (unsigned r = 0; r < board_->ranks; ++r) {
    BoardSlot& slot = launch::board_slot(board_, r);
    RankStatus& s = out[r];
    s.state = state_of(slot);
    s.pid = slot.pid.load();
    s.use = slot.use.load();
    s.ended = !runs(slot);
    s.elsewhere = board_->partial != 0 && !launch::board_has(board_, r);
    s.fences = slot.fences.load();
    const std::uint64_t heard = slot.heard_ns.load();
    s.answered = heard >= asked_ns_;
    if (heard != 0 && heard < now) s.silent_s = static_cast<double>(now - heard) * 1e-9;
    if (slot.account == 0) continue;
    if (s.answered) s.account = account_of(r, launch::account_text(board_, slot));
    if (!s.answered) s.newest_wait = account_of(r, launch::wait_text(board_, slot));
    if (s.newest_wait.since_ns != 0 && s.newest_wait.since_ns < now)
      s.newest_wait_s = static_cast<double>(now - s.newest_wait.since_ns) * 1e-9;
    s.progresses = s.account.waits && s.account.since_ns > asked_ns_;
    if (!s.ended && !s.answered && s.state != RankState::kAbsent) s.process = process_words(process_of(r));
  }
  return out;
}

}  // namespace ashlar::mpiexec

#include "components/launch/native/trace.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "framework/plugin/launch_board.h"

namespace ashlar::launch {
namespace {

// Parent and start time of a process from /proc/<pid>/stat; the name in it may hold spaces and parentheses.
bool process_facts(std::uint32_t pid, std::uint32_t* parent, std::uint64_t* start) {
  char path[40];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  const char* at = std::strrchr(text, ')');
  if (!at) return false;
  unsigned long ppid = 0;
  unsigned long long began = 0;
  if (std::sscanf(at + 1, " %*c %lu %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &ppid,
                  &began) != 2)
    return false;
  *parent = static_cast<std::uint32_t>(ppid);
  *start = began;
  return true;
}

bool descends_from_launcher(const Trace& trace) {
  std::uint32_t pid = static_cast<std::uint32_t>(getppid());
  for (int depth = 0; depth < 64 && pid > 1; ++depth) {
    std::uint32_t parent = 0;
    std::uint64_t start = 0;
    if (!process_facts(pid, &parent, &start)) return false;
    if (pid == trace.launcher_pid) return start == trace.launcher_start;
    pid = parent;
  }
  return false;
}

bool is_our_board(int fd, const Trace& trace) {
  // A sealed memfd, or the file without a name that takes its place where memfd_create is forbidden.
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat facts;
  if ((seals < 0 || !(seals & F_SEAL_SHRINK)) &&
      (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_nlink != 0))
    return false;
  BoardHeader header;
  if (pread(fd, static_cast<void*>(&header), sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
  return header.magic == kBoardMagic && header.version == kBoardVersion &&
         std::memcmp(header.job_id, trace.job_id, sizeof header.job_id) == 0 && trace.rank < header.ranks &&
         header.launcher_start == trace.launcher_start;
}

bool rank_is_taken(int fd, const Trace& trace, char* why, std::size_t why_bytes) {
  BoardHeader header;
  BoardSlot slot;
  if (pread(fd, static_cast<void*>(&header), sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return true;
  const auto at = static_cast<off_t>(header.slots + trace.rank * sizeof slot);
  if (pread(fd, static_cast<void*>(&slot), sizeof slot, at) != static_cast<ssize_t>(sizeof slot)) return true;
  const auto state = static_cast<RankState>(slot.state.load());
  if (state == RankState::kAbsent) return false;
  const auto pid = static_cast<pid_t>(slot.pid.load());
  const bool lives = pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM);
  if (!lives && state != RankState::kInitialized) return false;
  std::snprintf(why, why_bytes,
                lives ? "rank %u of job %s is process %d, which started this one or runs beside it"
                      : "rank %u of job %s was process %d, which ended without %s",
                trace.rank, trace.job_id, static_cast<int>(pid), missing_calls(slot.use.load()));
  return true;
}

}  // namespace

bool parse_trace(const char* text, Trace* trace) {
  if (!text) return false;
  int end = 0;
  unsigned long long start = 0;
  Trace t;
  if (std::sscanf(text, "1:%d:%d:%d:%u:%u:%llu:%n", &t.board_fd, &t.bell_fd, &t.shared_fd, &t.rank, &t.launcher_pid,
                  &start, &end) != 6 ||
      end == 0)
    return false;
  t.launcher_start = start;
  const std::size_t length = std::strlen(text + end);
  if (length == 0 || length >= sizeof t.job_id) return false;
  std::memcpy(t.job_id, text + end, length);
  *trace = t;
  return true;
}

int open_board(const Trace& trace, bool* inherited, char* why, std::size_t why_bytes) {
  int fd = -1;
  *inherited = is_our_board(trace.board_fd, trace);
  if (*inherited) {
    fd = fcntl(trace.board_fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) std::snprintf(why, why_bytes, "cannot duplicate descriptor %d: %s", trace.board_fd, strerror(errno));
  } else if (descends_from_launcher(trace)) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%u/fd/%d", trace.launcher_pid, trace.board_fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
      std::snprintf(why, why_bytes, "descriptor %d is closed, and %s: %s", trace.board_fd, path, strerror(errno));
    if (fd >= 0 && !is_our_board(fd, trace)) {
      std::snprintf(why, why_bytes, "%s is not the board of job %s", path, trace.job_id);
      close(fd);
      fd = -1;
    }
  } else {
    std::snprintf(why, why_bytes, "%s is left over from job %s, to which this process does not belong", kJobVariable,
                  trace.job_id);
  }
  if (fd >= 0 && rank_is_taken(fd, trace, why, why_bytes)) {
    close(fd);
    fd = -1;
  }
  return fd;
}

bool peek(const Trace& trace, void (*take)(void*, const char*), void* context) {
  char why[240];
  bool inherited = false;
  const int fd = open_board(trace, &inherited, why, sizeof why);
  if (fd < 0) return false;
  struct stat facts;
  void* at = MAP_FAILED;
  std::size_t bytes = 0;
  if (fstat(fd, &facts) == 0) {
    bytes = static_cast<std::size_t>(facts.st_size);
    at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  close(fd);
  if (at == MAP_FAILED) return false;
  auto* const board = static_cast<BoardHeader*>(at);
  const bool any = board->params != 0;
  if (any) take(context, std::string(board_at<char>(board, board->params), board->params_bytes).c_str());
  munmap(at, bytes);
  return any;
}

}  // namespace ashlar::launch

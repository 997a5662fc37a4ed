#include "mpiexec/output.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {

std::string time_stamp(std::chrono::system_clock::time_point when) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(when);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(when - whole).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm local = {};
  localtime_r(&seconds, &local);
  const long minutes = local.tm_gmtoff / 60, away = minutes < 0 ? -minutes : minutes;
  return text("%04d-%02d-%02dT%02d:%02d:%02d.%06lld%c%02ld:%02ld", local.tm_year + 1900, local.tm_mon + 1,
              local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, static_cast<long long>(micros),
              minutes < 0 ? '-' : '+', away / 60, away % 60);
}

std::string LineMerger::line_start(unsigned rank) const {
  std::string out;
  if (start_.time) out = time_stamp(clock_()) + " ";
  if (start_.rank) out += text("[%u] ", rank);
  return out;
}

void LineMerger::emit(unsigned rank, std::string_view bytes) {
  if (bytes.empty()) return;
  if (open_line_ && open_rank_ != rank) {
    queue_ += '\n';
    open_line_ = false;
  }
  open_rank_ = rank;
  if (!start_.time && !start_.rank) {
    queue_.append(bytes);
    open_line_ = bytes.back() != '\n';
    return;
  }
  const std::string start = line_start(rank);
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t length = newline == std::string_view::npos ? bytes.size() : newline + 1;
    if (!open_line_) queue_ += start;
    queue_.append(bytes.substr(0, length));
    open_line_ = newline == std::string_view::npos;
    bytes.remove_prefix(length);
  }
}

void LineMerger::add(unsigned rank, std::string_view bytes) {
  std::string& partial = partial_[rank];
  const std::size_t last = bytes.rfind('\n');
  if (last == std::string_view::npos) {
    partial.append(bytes);
  } else {
    if (!partial.empty()) {
      const std::size_t first = bytes.find('\n');
      partial.append(bytes.substr(0, first + 1));
      emit(rank, partial);
      partial.clear();
      emit(rank, bytes.substr(first + 1, last - first));
    } else {
      emit(rank, bytes.substr(0, last + 1));
    }
    partial.assign(bytes.substr(last + 1));
  }
  if (partial.size() >= kLongestLine) flush(rank);
}

void LineMerger::flush(unsigned rank) {
  emit(rank, partial_[rank]);
  partial_[rank].clear();
  if (partial_[rank].capacity() > 1u << 16) partial_[rank].shrink_to_fit();
}

void LineMerger::written(std::size_t bytes) {
  head_ += bytes;
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  } else if (head_ > 1u << 20) {
    queue_.erase(0, head_);
    head_ = 0;
  }
}

void LineMerger::discard() {
  queue_.clear();
  head_ = 0;
  for (std::string& partial : partial_) partial.clear();
}

OutputFd::OutputFd(int fd) : fd_(fd) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) {
    error_ = errno;
    return;
  }
  terminal_ = isatty(fd);
  if (S_ISREG(facts.st_mode)) {
    kind_ = Kind::kFile;
  } else if (S_ISSOCK(facts.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode)) {
    // O_NONBLOCK belongs to the open file, which the shell and others share: open it once more instead.
    const int again = open(text("/proc/self/fd/%d", fd).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (again >= 0) {
      fd_ = again;
      owned_ = true;
      kind_ = Kind::kNonblocking;
    }
  }
}

OutputFd::~OutputFd() {
  if (owned_) close(fd_);
}

std::size_t OutputFd::write(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size() && !broken()) {
    // A pipe that poll calls writable takes PIPE_BUF bytes without blocking, and no more is certain.
    const std::size_t part = std::min<std::size_t>(bytes.size() - done, kind_ == Kind::kBlocking ? PIPE_BUF : 1u << 18);
    const ssize_t n = kind_ == Kind::kSocket ? send(fd_, bytes.data() + done, part, MSG_DONTWAIT | MSG_NOSIGNAL)
                                             : ::write(fd_, bytes.data() + done, part);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      if (kind_ == Kind::kBlocking) break;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    } else {
      error_ = n < 0 ? errno : EIO;
    }
  }
  return done;
}

bool OutputFd::reader_left() const { return error_ == EPIPE || error_ == ECONNRESET; }

}  // namespace ashlar::mpiexec

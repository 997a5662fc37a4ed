#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::mpiexec {

/// What each line of output begins with.
struct LineStart {
  bool time = false;  // when mpiexec read the line
  bool rank = false;
};

/// The local time with its distance from UTC, as ISO 8601 has it: 2026-03-01T14:05:09.123456+01:00.
std::string time_stamp(std::chrono::system_clock::time_point when);

/// Merges what many ranks write into one stream, line by line. Bytes are passed on as they are, in each rank's order;
/// a line of one rank is never cut by another's. Only where a rank's text ends without a newline and another rank's
/// text follows, a newline is put between.
class LineMerger {
 public:
  using Clock = std::chrono::system_clock::time_point (*)();

  LineMerger(unsigned ranks, LineStart start, Clock clock = std::chrono::system_clock::now)
      : partial_(ranks), start_(start), clock_(clock) {}

  /// A line longer than this is passed on in parts; others' text may then follow after an added newline.
  static constexpr std::size_t kLongestLine = 16u << 20;

  void add(unsigned rank, std::string_view bytes);
  /// The rank's stream has ended: what is left of its last line goes out.
  void end(unsigned rank) { flush(rank); }
  /// Sends an unfinished line on, so that a question is seen before it is answered.
  void flush(unsigned rank);
  bool has_partial(unsigned rank) const { return !partial_[rank].empty(); }

  /// What is ready to be written, and how much of it was.
  std::string_view ready() const { return std::string_view(queue_).substr(head_); }
  void written(std::size_t bytes);
  std::size_t queued() const { return queue_.size() - head_; }
  void discard();

 private:
  void emit(unsigned rank, std::string_view bytes);
  std::string line_start(unsigned rank) const;

  std::vector<std::string> partial_;
  std::string queue_;
  std::size_t head_ = 0;
  unsigned open_rank_ = 0;  // whose text stands last in the queue
  bool open_line_ = false;  // and whether its line is unfinished
  LineStart start_;
  Clock clock_;
};

/// Where the merged text goes. Never blocks, and never makes a descriptor that others share non-blocking.
class OutputFd {
 public:
  explicit OutputFd(int fd);
  ~OutputFd();
  OutputFd(const OutputFd&) = delete;
  OutputFd& operator=(const OutputFd&) = delete;

  int fd() const { return fd_; }
  bool terminal() const { return terminal_; }
  /// Writes what can be written now. Returns the number of bytes; `broken()` is true once no more can be.
  std::size_t write(std::string_view bytes);
  bool broken() const { return error_ != 0; }
  int error() const { return error_; }
  /// Whether it is broken because the other end of a pipe or socket is closed.
  bool reader_left() const;

 private:
  enum class Kind { kNonblocking, kSocket, kFile, kBlocking };
  int fd_;
  int error_ = 0;  // errno of the write that failed
  bool owned_ = false;
  bool terminal_ = false;
  Kind kind_ = Kind::kBlocking;
};

}  // namespace ashlar::mpiexec

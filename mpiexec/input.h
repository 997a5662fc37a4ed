#pragma once
#include <cstddef>
#include <string>

namespace ashlar::mpiexec {

/// Passes a terminal's input on to one rank: in order, without loss, reading only what the rank has room for.
/// (Files and pipes are not copied at all: the rank gets the descriptor itself, and what it does not read stays there
/// for the next program.)
class InputForwarder {
 public:
  InputForwarder(int from, int to);  // `to`: our end of the rank's pipe, owned from now on
  ~InputForwarder();
  InputForwarder(const InputForwarder&) = delete;
  InputForwarder& operator=(const InputForwarder&) = delete;

  /// Descriptors to poll now for reading or writing; -1: none.
  int wants_read() const;
  int wants_write() const;
  void read_some();
  void write_some();
  /// Continued after a stop: we may be in the foreground again.
  void resumed() { paused_ = false; }

 private:
  void close_rank();

  int from_, to_;
  std::string buffer_;
  std::size_t head_ = 0;
  bool ended_ = false;
  bool paused_ = false;  // a background job must not read from its terminal
};

}  // namespace ashlar::mpiexec

#pragma once
#include <cstddef>
#include <string_view>

namespace ashlar::mpiexec {

/// Standard input of mpiexec for a rank on another host: read here as far as there is room at its daemon.
class RemoteInput {
 public:
  /// The descriptor to wait for; -1: nothing is to be read now.
  int wants_read(std::size_t room) const;
  /// What could be read, at most `room` bytes; valid until the next call. Empty: nothing, or ended() is true.
  std::string_view read_some(std::size_t room);
  bool ended() const { return ended_; }
  /// Continued after a stop: mpiexec may be in the foreground again.
  void resumed() { paused_ = false; }

 private:
  bool ended_ = false;
  bool paused_ = false;  // a background job must not read from its terminal
};

}  // namespace ashlar::mpiexec

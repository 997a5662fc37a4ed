#pragma once
#include <cstdint>
#include <vector>

#include "components/transport/shm/descriptor.h"

namespace ashlar::shm {

/// Passing the descriptor of a segment over an abstract socket: no file, no port. Used by peers to whom
/// /proc/PID/fd is closed (another user namespace, hidepid, a process that is not dumpable, another pid namespace).

/// The owner's side.
class Door {
 public:
  /// Listens under a name made from `nonce`. Without success the door stays shut, which is no error.
  void open(std::uint64_t nonce, std::uint64_t cookie);
  /// Gives `fd` to those who knock, know the cookie and run as this user. Set-up path; never blocks.
  void serve(int fd);

 private:
  bool answer(int visitor, int fd) const;

  Descriptor listener_;
  std::vector<Descriptor> visitors_;
  std::uint64_t nonce_ = 0, cookie_ = 0;
};

/// The asking side.
class Knock {
 public:
  /// Begins. Returns 0, EAGAIN (the door is crowded: call again), or an errno: there is no such door.
  int begin(std::uint64_t nonce, std::uint64_t cookie);
  /// Takes the answer. Returns 0 with *fd, EAGAIN (not yet), or an errno.
  int take(Descriptor* fd);
  /// The owner's pid as this process sees it; 0 when it is invisible here.
  std::int32_t owner() const { return owner_; }

 private:
  Descriptor socket_;
  std::int32_t owner_ = 0;
};

}  // namespace ashlar::shm

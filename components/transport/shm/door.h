#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "components/transport/shm/descriptor.h"

namespace ashlar::shm {

/// Passing the descriptor of a segment over an abstract socket: no file, no port. Used by peers to whom
/// /proc/PID/fd is closed (another user namespace, hidepid, a process that is not dumpable, another pid namespace).

/// The owner's side. The name of the socket is no secret (/proc/net/unix), so any process of the machine may connect:
/// a process of another user is let go at once, and one of this user that says nothing soon after.
class Door {
 public:
  /// Listens under a name made from `nonce`. Without success the door stays shut, which is no error. `visitors`: how
  /// many connections are open at one time at most; others wait in the socket's queue.
  void open(std::uint64_t nonce, std::uint64_t cookie, std::size_t visitors);
  /// Gives `fd` to processes that ask for it, know the cookie and run as this user. Set-up path; never blocks.
  void serve(int fd);

 private:
  struct Visitor {
    Descriptor socket;
    std::uint64_t
        until_ns;  // the request follows the connection at once; without one until then the connection is closed
  };
  void admit();
  bool answer(const Visitor& visitor, int fd) const;

  Descriptor listener_;
  std::vector<Visitor> visitors_;
  std::size_t most_visitors_ = 0;
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

#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "components/transport/shm/counters.h"
#include "framework/base/descriptor.h"

namespace ashlar::shm {

/// Passing the descriptor of a segment over an abstract socket: no file, no port. For peers that cannot open
/// /proc/PID/fd (another user namespace, hidepid, a process that is not dumpable, another pid namespace).

/// The server, at the owner of the segment. The name of the socket is no secret (/proc/net/unix), so any process of the
/// machine may connect: a connection of another user is closed at once, and one of this user that sends no request soon
/// after. The lane's lock guards it.
class Door {
 public:
  Door() = default;
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  /// Listens under a name made from `nonce`. Without success there is no server, which is no error: peers then find
  /// none. `clients`: how many connections are open at one time at most; others wait in the socket's queue. What
  /// happens is counted in `count_in`, which outlives this.
  void open(std::uint64_t nonce, std::uint64_t cookie, std::size_t clients, Counters& count_in);
  /// Passes `fd` to clients whose request has the cookie, and that run as this user. Set-up path; never blocks.
  void serve(int fd);

 private:
  struct Connection {
    Descriptor socket;
    std::uint64_t until_ns;  // the request follows the connection at once; without one the connection is closed then
  };
  void accept_connections();
  /// Whether the connection is over, and to be closed; that is also the answer to what is not a request of this job.
  bool answer(const Connection& connection, int fd) const;
  void turn_away() const { count(counters_->turned_away); }

  Descriptor listener_;
  std::vector<Connection> connections_;
  std::size_t most_connections_ = 0;
  Counters* counters_ = nullptr;  // set by open()
  std::uint64_t nonce_ = 0, cookie_ = 0;
};

/// The client: one request for the descriptor of a peer's segment.
class DescriptorRequest {
 public:
  /// Connects and sends the request. Returns 0, EAGAIN (the socket's queue is full: call again), or an errno: no server
  /// listens there.
  int begin(std::uint64_t nonce, std::uint64_t cookie);
  /// Receives the answer. Returns 0 with *fd, EAGAIN (not yet), or an errno.
  int take(Descriptor* fd);
  /// The owner's pid as this process sees it; 0 when it is invisible here.
  std::int32_t owner() const { return owner_; }

 private:
  Descriptor socket_;
  std::int32_t owner_ = 0;
};

}  // namespace ashlar::shm

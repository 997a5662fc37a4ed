#pragma once
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/descriptor.h"

namespace ashlar::mpiexec {

/// Where the ranks of this host connect when they want something of their launcher: an abstract socket
/// (plugin/launch_board.h), at which processes of other users are turned away.
class ControlSocket {
 public:
  /// From now on, which is when the first rank wants it. place() is 0 when that cannot be.
  void open();
  /// The socket's number; 0: there is none.
  std::uint64_t place() const { return place_; }
  int fd() const { return listener_.get(); }
  /// The next that has connected; none: there is no more.
  Descriptor accept();

 private:
  Descriptor listener_;
  std::uint64_t place_ = 0;
};

/// Gives a connection to the control socket at `place`, of another mpiexec on this host, with what it wants. False:
/// there is none of this user.
bool pass_on(std::uint64_t place, char wish, const Descriptor& socket);

/// Those that have connected, here or through a daemon, until they have said in one byte what they want
/// (launch::Wish). Bytes behind it are left for who serves them.
class Callers {
 public:
  struct Caller {
    char wish;
    Descriptor socket;
  };
  void admit(Descriptor socket);
  void add(std::vector<pollfd>* fds);
  /// Those that have said it; the silent are sent away after a while.
  std::vector<Caller> handle(const std::vector<pollfd>& fds, std::uint64_t now);

 private:
  struct Waiting {
    Descriptor socket;
    std::uint64_t until_ns;  // 0: not looked at yet
  };
  std::deque<Waiting> waiting_;
  std::size_t first_ = 0, polled_ = 0;  // of the descriptors in the last add()
};

/// Connections whose other end is on another host: their bytes pass through the link between mpiexec and daemon. They
/// are few and short, requests and answers, so that nothing bounds them but a limit beyond which one is given up.
class RelayedCalls {
 public:
  class Events {
   public:
    /// Bytes for the other end; none: this end is gone, and nothing more comes.
    virtual void relayed(std::uint64_t call, std::string_view bytes) = 0;

   protected:
    ~Events() = default;
  };

  void open(std::uint64_t call, Descriptor socket);
  bool has(std::uint64_t call) const { return find(call) != calls_.size(); }
  /// Bytes of the other end; none: it is gone.
  void take(std::uint64_t call, std::string_view bytes);
  void add(std::vector<pollfd>* fds);
  void handle(const std::vector<pollfd>& fds, Events& events);
  /// Closes those of which `is_of(call)` holds, as if their other end were gone.
  template <class Which>
  void close_if(Which is_of) {
    std::erase_if(calls_, [&](const Call& call) { return is_of(call.number); });
  }

 private:
  struct Call {
    std::uint64_t number;
    Descriptor socket;
    std::string out;
    bool ended = false;  // the other end: what it has said is written, and no more is read
  };
  std::size_t find(std::uint64_t call) const;
  bool go_on(Call& call, bool readable, Events& events);

  std::deque<Call> calls_;
  std::size_t first_ = 0, polled_ = 0;
};

}  // namespace ashlar::mpiexec

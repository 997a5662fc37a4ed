#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"

namespace ashlar {
struct Lane;
}
namespace ashlar::comm {

/// What a port's name says: where the port listens, and the key that a process needs to connect.
struct PortName {
  std::uint64_t place = 0;  // number of the socket: an abstract one, which has no file
  std::array<unsigned char, 32> key{};

  std::string text() const;
  /// False: it is not of our making.
  static bool parse(const char* text, PortName* name);
};

/// A port of this process: a socket that listens, and those that have knocked. The socket's place is no secret
/// (/proc/net/unix), so a process of another user is turned away, and so is one without the key, or that says nothing.
/// The key is in no log, no message and no file.
class Port {
 public:
  /// Fails with MPI_ERR_PORT.
  Status open();
  const PortName& name() const { return name_; }
  int fd() const { return listener_.get(); }
  /// Looks after those that knock, and gives the one that has waited longest, which is told that it is welcome. False:
  /// there is none. Never blocks.
  bool take(Descriptor* visitor);

 private:
  struct Visitor {
    Descriptor socket;
    std::uint64_t until_ns;
    std::size_t got = 0;
    std::array<unsigned char, 48> hello{};
    bool known = false;
  };
  /// False: it is turned away.
  bool hear(Visitor& visitor) const;

  PortName name_;
  Descriptor listener_;
  std::vector<Visitor> visitors_;  // in the order of their coming
};

/// The ports that this process has open. Any thread.
class Ports {
 public:
  /// Fails with MPI_ERR_PORT.
  Status open(std::string* name);
  /// Fails with MPI_ERR_PORT when it is none, or of another process.
  Status close(const char* name);
  std::shared_ptr<Port> find(const char* name);
  /// Of Port::take, for threads that accept at one port.
  std::mutex taking;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Port>> open_;
};

/// Connects to a port, which may be one of this process, and waits until a call of MPI_Comm_accept takes it, at most
/// `timeout_ns`; makes progress meanwhile. Fails with MPI_ERR_PORT.
Status connect_to(Lane& lane, const char* name, std::uint64_t timeout_ns, Descriptor* socket);

/// Random bytes that cannot be guessed.
Status draw(void* bytes, std::size_t length);
/// Whether the process at the other end of a local socket runs as this user.
bool is_own_user(int fd);

}  // namespace ashlar::comm

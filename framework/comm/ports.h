#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "framework/comm/channel.h"
#include "framework/comm/port_name.h"
#include "framework/comm/port_visitor.h"

namespace ashlar {
struct Lane;
}
namespace ashlar::comm {

/// How processes of other hosts reach a port: as they reach the process by transport/tcp.
struct PortNetwork {
  std::string interfaces = "auto";  // of the host, whose addresses are told
  std::string ports = "0";          // TCP ports, of which it takes one
  std::string address = {};         // the one address that is told; empty: all that fit
};

/// A port of this process: sockets that listen, and those that have knocked. Its place on this host is no secret
/// (/proc/net/unix), nor is a TCP port: a process of another user of this host is turned away, and so is one without
/// the key, or that says nothing. The key is in no log, no message and no file.
class Port {
 public:
  /// `network`: nullptr of a port for processes of this host alone. A host that has no network has such a port, too.
  /// Fails with MPI_ERR_PORT, and with MPI_ERR_INFO_VALUE where `network` names what there is not.
  Status open(const PortNetwork* network);
  const PortName& name() const { return name_; }
  /// Looks after those that knock, and gives the one that has waited longest, which is told that it is welcome. False:
  /// there is none. Never blocks.
  bool take(Channel* visitor);

 private:
  Status open_network(const PortNetwork& network);
  void let_in(const Descriptor& listener, Visitor::From from);

  PortName name_;
  Descriptor listener_, network_listener_;
  std::list<Visitor> visitors_;  // in the order of their coming
};

/// The ports that this process has open. Any thread.
class Ports {
 public:
  /// As Port::open.
  Status open(const PortNetwork* network, std::string* name);
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
Status connect_to(Lane& lane, const char* name, std::uint64_t timeout_ns, Channel* channel);

/// Random bytes that cannot be guessed.
Status draw(void* bytes, std::size_t length);
/// The socket of a port on this host.
Descriptor make_local_socket();
/// Connects it to the port at that place. An errno, 0: it is connected.
int connect_local(int socket, std::uint64_t place);

}  // namespace ashlar::comm

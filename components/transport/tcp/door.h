#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "components/transport/tcp/socket.h"
#include "components/transport/tcp/wire.h"
#include "framework/base/ip_ports.h"

namespace ashlar::tcp {

/// A connection that was accepted on one lane, and said that it is for another.
struct Visitor {
  Descriptor socket;
  Hello hello;
};

/// Where the interface of a lane finds visitors that another one accepted.
class Inbox {
 public:
  /// Without an eventfd visitors are found when the lane looks.
  Inbox();
  int fd() const { return bell_.get(); }
  void put(Visitor visitor);
  std::vector<Visitor> take();

 private:
  std::mutex mutex_;
  std::vector<Visitor> visitors_;
  Descriptor bell_;
};

/// The one listening socket of the process, which its lanes share. Any thread.
class Door {
 public:
  /// Opened by the first interface, closed with the last one. Null: errno says why.
  static std::shared_ptr<Door> of_process(const Ports& ports, bool loopback_only);
  explicit Door(Descriptor socket);
  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }
  int family() const { return family_; }  // 4 or 6; a door of 6 that hosts can reach serves both
  void enter(std::uint64_t nonce, Inbox* inbox);
  void leave(std::uint64_t nonce);
  /// Hands the visitor to the lane it wants. False: there is none.
  bool pass(Visitor visitor);

 private:
  const Descriptor socket_;
  std::uint16_t port_ = 0;
  int family_ = 4;
  std::mutex mutex_;
  std::map<std::uint64_t, Inbox*> lanes_;
};

}  // namespace ashlar::tcp

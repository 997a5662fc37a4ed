#pragma once
#include <cstdint>

#include "framework/base/descriptor.h"

namespace ashlar::tcp {

/// A socket that the interface looks at.
class Watched {
 public:
  explicit Watched(Descriptor socket) : socket_(std::move(socket)) {}
  virtual ~Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  /// Something is ready, as epoll says. Returns how many events it handled.
  virtual unsigned ready(std::uint32_t events) = 0;

  int fd() const { return socket_.get(); }
  Descriptor release() { return std::move(socket_); }
  bool closed = false;            // it will be deleted at the end of the look
  std::uint32_t watched_for = 0;  // the interface's: EPOLLIN, EPOLLOUT

 protected:
  Descriptor socket_;
};

}  // namespace ashlar::tcp

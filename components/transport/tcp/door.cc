#include "components/transport/tcp/door.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace ashlar::tcp {

Inbox::Inbox() : bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Inbox::put(Visitor visitor) {
  const std::lock_guard guard(mutex_);
  visitors_.push_back(std::move(visitor));
  const std::uint64_t one = 1;
  if (bell_) (void)!::write(bell_.get(), &one, sizeof one);
}

std::vector<Visitor> Inbox::take() {
  const std::lock_guard guard(mutex_);
  std::uint64_t count = 0;
  if (bell_) (void)!read(bell_.get(), &count, sizeof count);
  return std::move(visitors_);
}

Door::Door(Descriptor socket) : socket_(std::move(socket)) {
  const SocketAddress own = SocketAddress::of_own(socket_.get());
  port_ = own.port();
  family_ = own.any.sa_family == AF_INET ? 4 : 6;
}

std::shared_ptr<Door> Door::of_process(const Ports& ports, bool loopback_only) {
  static std::mutex mutex;
  static std::weak_ptr<Door> existing;
  static pid_t owner = 0;  // a child that was forked does not answer for its parent
  const std::lock_guard guard(mutex);
  if (auto door = existing.lock(); door != nullptr && owner == getpid()) return door;
  Descriptor socket = listen_on(ports, loopback_only);
  if (!socket) return nullptr;
  auto door = std::make_shared<Door>(std::move(socket));
  existing = door;
  owner = getpid();
  return door;
}

void Door::enter(std::uint64_t nonce, Inbox* inbox) {
  const std::lock_guard guard(mutex_);
  lanes_[nonce] = inbox;
}

void Door::leave(std::uint64_t nonce) {
  const std::lock_guard guard(mutex_);
  lanes_.erase(nonce);
}

bool Door::pass(Visitor visitor) {
  const std::lock_guard guard(mutex_);
  const auto lane = lanes_.find(visitor.hello.target);
  if (lane == lanes_.end()) return false;
  lane->second->put(std::move(visitor));
  return true;
}

}  // namespace ashlar::tcp

#include "framework/comm/ports.h"

#include <mpi.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/comm/channel.h"

namespace ashlar::comm {
namespace {

constexpr char kPrefix[] = "ashlar-port:1:";
constexpr std::uint64_t kHelloTimeoutNs = 5'000'000'000;
constexpr std::size_t kMostVisitors = 256;
constexpr std::uint64_t kMagic = 0x31545250'4c485341;  // "ASHLPRT1"

struct Hello {
  std::uint64_t magic;
  std::uint64_t reserved;
  std::array<unsigned char, 32> key;
};
static_assert(sizeof(Hello) == 48);
constexpr char kWelcome = 'w';

socklen_t address_of(std::uint64_t place, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "ashlar-port-%016" PRIx64, place);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

Status refused(const char* reason) { return fail(MPI_ERR_PORT, "port.refused", {{"lower", reason}}); }

/// In the same time whatever the difference.
bool same_key(const std::array<unsigned char, 32>& one, const unsigned char* other) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

}  // namespace

Status draw(void* bytes, std::size_t length) {
  for (std::size_t done = 0; done < length;) {
    const ssize_t n = getrandom(static_cast<char*>(bytes) + done, length - done, 0);
    if (n < 0 && errno != EINTR) return fail(MPI_ERR_OTHER, "port.no_random", {{"lower", std::strerror(errno)}});
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return {};
}

bool is_own_user(int fd) {
  ucred other;
  socklen_t size = sizeof other;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == geteuid();
}

std::string PortName::text() const {
  char out[sizeof kPrefix + 16 + 1 + 64];
  int at = std::snprintf(out, sizeof out, "%s%016" PRIx64 ":", kPrefix, place);
  for (const unsigned char byte : key)
    at += std::snprintf(out + at, sizeof out - static_cast<std::size_t>(at), "%02x", byte);
  return out;
}

bool PortName::parse(const char* text, PortName* name) {
  constexpr std::size_t kFront = sizeof kPrefix - 1;
  if (std::strncmp(text, kPrefix, kFront) != 0 || std::strlen(text) != kFront + 16 + 1 + 64) return false;
  const char* at = text + kFront;
  if (at[16] != ':' || std::strspn(at, "0123456789abcdef") != 16 || std::strspn(at + 17, "0123456789abcdef") != 64)
    return false;
  if (std::sscanf(at, "%16" SCNx64, &name->place) != 1) return false;
  at += 17;
  for (unsigned char& byte : name->key) {
    unsigned value = 0;
    if (std::sscanf(at, "%2x", &value) != 1) return false;
    byte = static_cast<unsigned char>(value);
    at += 2;
  }
  return true;
}

Status Port::open() {
  ASHLAR_TRY(draw(&name_.place, sizeof name_.place));
  ASHLAR_TRY(draw(name_.key.data(), name_.key.size()));
  listener_ = make_socket();
  sockaddr_un address;
  const socklen_t length = address_of(name_.place, &address);
  if (!listener_ || bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(listener_.get(), SOMAXCONN) != 0)
    return fail(MPI_ERR_PORT, "port.not_opened", {{"lower", std::strerror(errno)}});
  return {};
}

bool Port::hear(Visitor& visitor) const {
  while (visitor.got < visitor.hello.size()) {
    const ssize_t n =
        recv(visitor.socket.get(), visitor.hello.data() + visitor.got, visitor.hello.size() - visitor.got, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return now_ns() < visitor.until_ns;
    if (n <= 0) return false;
    visitor.got += static_cast<std::size_t>(n);
  }
  Hello hello;
  std::memcpy(&hello, visitor.hello.data(), sizeof hello);
  visitor.known = hello.magic == kMagic && same_key(name_.key, hello.key.data());
  return visitor.known;
}

bool Port::take(Descriptor* out) {
  while (visitors_.size() < kMostVisitors) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) break;
    if (is_own_user(socket.get()))
      visitors_.push_back({.socket = std::move(socket), .until_ns = now_ns() + kHelloTimeoutNs});
  }
  std::erase_if(visitors_, [this](Visitor& v) { return !v.known && !hear(v); });
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    if (!visitor->known) {
      ++visitor;
      continue;
    }
    Descriptor socket = std::move(visitor->socket);
    visitor = visitors_.erase(visitor);
    // One that has given up meanwhile is passed over.
    char byte;
    const ssize_t more = recv(socket.get(), &byte, 1, MSG_PEEK);
    const bool gone = more == 0 || (more < 0 && errno != EAGAIN && errno != EINTR);
    if (gone || send(socket.get(), &kWelcome, 1, MSG_NOSIGNAL) != 1) continue;
    *out = std::move(socket);
    return true;
  }
  return false;
}

Status Ports::open(std::string* name) {
  auto port = std::make_shared<Port>();
  ASHLAR_TRY(port->open());
  *name = port->name().text();
  const std::lock_guard guard(mutex_);
  open_.emplace(*name, std::move(port));
  return {};
}

Status Ports::close(const char* name) {
  const std::lock_guard guard(mutex_);
  return open_.erase(name) == 1 ? Status() : fail(MPI_ERR_PORT, "port.not_open");
}

std::shared_ptr<Port> Ports::find(const char* name) {
  const std::lock_guard guard(mutex_);
  const auto port = open_.find(name);
  return port == open_.end() ? nullptr : port->second;
}

Status connect_to(Lane& lane, const char* name, std::uint64_t timeout_ns, Descriptor* out) {
  constexpr char kWhat[] = "for a process that accepts at the port";
  PortName port;
  if (!PortName::parse(name, &port)) return fail(MPI_ERR_PORT, "port.foreign");
  const std::uint64_t deadline = now_ns() + timeout_ns;
  Descriptor socket = make_socket();
  if (!socket) return refused(std::strerror(errno));
  sockaddr_un address;
  const socklen_t length = address_of(port.place, &address);
  int error = EAGAIN;
  const auto reach = [&] {  // a full queue is no reason to give up
    error = connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 ? 0 : errno;
    return (error != EAGAIN && error != EINTR) || now_ns() > deadline;
  };
  wait_beside(lane, kWhat, reach);
  if (error != 0) return refused(std::strerror(error == EAGAIN ? ETIMEDOUT : error));
  // Another user's process behind the place does not get the key.
  if (!is_own_user(socket.get())) return refused(std::strerror(EACCES));
  const Hello hello{.magic = kMagic, .reserved = 0, .key = port.key};
  if (send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello))
    return refused(std::strerror(errno));
  char answer = 0;
  ssize_t n = 0;
  wait_beside(lane, kWhat, [&] {
    n = recv(socket.get(), &answer, 1, 0);
    return n >= 0 || (errno != EAGAIN && errno != EINTR) || now_ns() > deadline;
  });
  if (n < 0 && now_ns() > deadline) return refused("no process has accepted the connection in time");
  if (n != 1 || answer != kWelcome) return refused("the port was closed, or its process has ended");
  *out = std::move(socket);
  return {};
}

}  // namespace ashlar::comm

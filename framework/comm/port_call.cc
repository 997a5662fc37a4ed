#include "framework/comm/port_call.h"

#include <mpi.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/socket_peer.h"
#include "framework/base/stream_socket.h"
#include "framework/comm/ports.h"

namespace ashlar::comm {
namespace {

constexpr std::size_t kMostReasons = 300;

Status refused(const std::string& reason) { return fail(MPI_ERR_PORT, "port.refused", {{"lower", reason}}); }

/// Connects to a port of this host.
Status connect_here(Lane& lane, const PortName& port, std::uint64_t deadline, Channel* channel) {
  constexpr char kWhat[] = "for a process that accepts at the port";
  Descriptor socket = make_local_socket();
  if (!socket) return refused(std::strerror(errno));
  int error = EAGAIN;
  const auto reach = [&] {  // a full queue is no reason to give up
    error = connect_local(socket.get(), port.place);
    return (error != EAGAIN && error != EINTR) || now_ns() > deadline;
  };
  wait_beside(lane, kWhat, reach);
  if (error != 0) return refused(std::strerror(error == EAGAIN ? ETIMEDOUT : error));
  // Another user's process behind the place does not get the key.
  if (!is_own_user(socket.get())) return refused(std::strerror(EACCES));
  const LocalHello hello{.magic = kLocalMagic, .reserved = 0, .key = port.key};
  if (send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello))
    return refused(std::strerror(errno));
  char answer = 0;
  ssize_t n = 0;
  wait_beside(lane, kWhat, [&] {
    n = recv(socket.get(), &answer, 1, 0);
    return !is_later(n) || now_ns() > deadline;
  });
  if (is_later(n)) return refused("no process has accepted the connection in time");
  if (n != 1 || answer != kWelcome) return refused("the port was closed, or its process has ended");
  *channel = Channel(std::move(socket));
  return {};
}

}  // namespace

PortCall::PortCall(const PortName& port, const Patience& patience)
    : port_(port), patience_(patience), began_(now_ns()) {
  for (const ip::SocketAddress& to :
       ip::ways_to(port.addresses, port.port, false, ip::own_addresses(ip::Interfaces("auto")))) {
    const Descriptor& socket = ways_.emplace_back(to).stream.socket;
    if (socket) ip::prepare_stream(socket.get(), kUserTimeoutNs, kKeepaliveNs);
    if (socket && (::connect(socket.get(), &to.any, to.length) == 0 || errno == EINPROGRESS)) continue;
    refused_ = refused_ || errno == ECONNREFUSED;
    leave_out(to, std::strerror(errno));
    ways_.pop_back();
  }
}

void PortCall::leave_out(const ip::SocketAddress& to, const std::string& why) {
  if (reasons_.size() < kMostReasons) reasons_ += (reasons_.empty() ? "" : "; ") + to.text() + ": " + why;
}

PortCall::State PortCall::step() {
  if (!ways_.empty() && ways_.front().stage == Stage::kChosen) return await_welcome(ways_.front());
  for (auto way = ways_.begin(); way != ways_.end();) {
    if (!go_on(*way)) {
      leave_out(way->to, way->trouble);
      way = ways_.erase(way);
      continue;
    }
    if (way->stage == Stage::kChosen) {
      choose(way);
      return await_welcome(ways_.front());
    }
    ++way;
  }
  return ways_.empty() ? State::kFailed : State::kGoing;
}

/// False: the way leads nowhere.
bool PortCall::go_on(Way& way) {
  if (way.stage == Stage::kConnecting && !connected(way)) return false;
  if (way.stage == Stage::kConnecting) return true;
  PortStream::Read read = way.stream.flush() ? PortStream::Read::kAll : PortStream::Read::kEnd;
  if (read == PortStream::Read::kAll && way.stage == Stage::kAnswer &&
      (read = way.stream.collect(sizeof(Challenge))) == PortStream::Read::kAll) {
    std::memcpy(&way.challenge, way.stream.in.data(), sizeof way.challenge);
    way.stream.in.clear();
    if (way.challenge.magic != kNetworkMagic ||
        !same(way.challenge.proof, greeting_of(way).proof(port_.key, PortSide::kAccepting))) {
      way.trouble = "what answers there is not the port";
      return false;
    }
    way.stage = Stage::kFilling;
  }
  if (way.stage == Stage::kFilling && (read = way.stream.drop(kFillingBytes)) == PortStream::Read::kAll)
    way.stage = Stage::kChosen;
  if (read == PortStream::Read::kEnd) way.trouble = "the port was closed, or something else is there";
  return read != PortStream::Read::kEnd;
}

bool PortCall::connected(Way& way) {
  pollfd room = {way.stream.socket.get(), POLLOUT, 0};
  if (poll(&room, 1, 0) == 0) {
    way.trouble = "it does not answer";
    return now_ns() < began_ + (refused_ ? patience_.beside_refusal : patience_.usual);
  }
  int error = 0;
  socklen_t length = sizeof error;
  (void)getsockopt(way.stream.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  way.hello = {.magic = kNetworkMagic, .place = port_.place, .nonce = {}};
  if (error == 0 && !draw(way.hello.nonce.data(), way.hello.nonce.size()).ok()) error = EIO;
  refused_ = refused_ || error == ECONNREFUSED;
  way.trouble = std::strerror(error);
  if (error != 0) return false;
  way.stream.out.assign(reinterpret_cast<const char*>(&way.hello), sizeof way.hello);
  way.stream.out.resize(sizeof way.hello + kFillingBytes);
  way.stage = Stage::kAnswer;
  return true;
}

/// The port hears of one way alone that the caller knows the key, so that it does not take another one.
void PortCall::choose(std::list<Way>::iterator way) {
  ways_.erase(std::next(way), ways_.end());
  ways_.erase(ways_.begin(), way);
  const Digest proof = greeting_of(*way).proof(port_.key, PortSide::kCalling);
  way->stream.out.append(reinterpret_cast<const char*>(proof.data()), proof.size());
}

PortCall::State PortCall::await_welcome(Way& way) {
  const PortStream::Read read = way.stream.flush() ? way.stream.collect(1) : PortStream::Read::kEnd;
  if (read == PortStream::Read::kSome) return State::kGoing;
  if (read == PortStream::Read::kAll && way.stream.in[0] == kWelcome) return State::kTaken;
  leave_out(way.to, "the port was closed, or its process has ended");
  return State::kFailed;
}

Status connect_to(Lane& lane, const char* name, std::uint64_t timeout_ns, Channel* channel) {
  PortName port;
  if (!PortName::parse(name, &port)) return fail(MPI_ERR_PORT, "port.foreign");
  const std::uint64_t deadline = now_ns() + timeout_ns;
  if (port.host == ip::host_here()) return connect_here(lane, port, deadline, channel);
  if (port.port == 0) return refused("it is on another host, and for processes of that host alone");
  PortCall call(port);
  PortCall::State state = PortCall::State::kGoing;
  wait_beside(lane, "for a process that accepts at the port, on another host", [&] {
    state = call.step();
    return state != PortCall::State::kGoing || now_ns() > deadline;
  });
  if (state == PortCall::State::kGoing) return refused("no process has accepted the connection in time");
  if (state == PortCall::State::kFailed)
    return refused(call.reasons().empty() ? "no network leads to its host" : call.reasons());
  *channel = call.take();
  return {};
}

}  // namespace ashlar::comm

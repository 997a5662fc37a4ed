// Ports, and the groups that meet at them (MPI-5.0, 11.9).
#include <mpi.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "framework/base/failure.h"
#include "framework/base/ip_ports.h"
#include "framework/comm/engine.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/join_api.h"
#include "framework/comm/meeting.h"
#include "framework/comm/outside.h"
#include "framework/comm/ports.h"
#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

constexpr std::uint64_t kNoEnd = ~std::uint64_t{0} / 2;

std::uint64_t connect_timeout() {
  const Outside* const outside = Engine::current().outside;
  return outside ? outside->connect_timeout_ns() : kNoEnd;
}

void take_visitor(Comm& comm, Port& port, Channel* channel) {
  wait_beside(*comm.lane, "for a process that connects to the port", [&] {
    const std::lock_guard one_at_a_time(Engine::current().ports->taking);
    return port.take(channel);
  });
}

/// The reserved keys of MPI_Open_port (MPI-5.0, 11.9.5).
Status take_keys(const Info* info, PortNetwork* network) {
  const std::string* const port = info != nullptr ? info->find("ip_port") : nullptr;
  const std::string* const address = info != nullptr ? info->find("ip_address") : nullptr;
  if (port != nullptr) {
    ip::Ports one;
    if (!ip::Ports::parse(*port, &one) || one.first != one.last || one.first == 0)
      return fail(MPI_ERR_INFO_VALUE, "port.no_tcp_port", {{"value", *port}});
    network->ports = *port;
  }
  if (address != nullptr) network->address = *address;
  return {};
}

/// What MPI_Comm_join exchanges over the user's socket, which blocks: as many bytes each way.
Status exchange(int fd, const void* mine, void* theirs, std::size_t bytes) {
  const auto failed = [](int error) {
    return fail(MPI_ERR_OTHER, "comm.join_socket", {{"lower", error ? std::strerror(error) : ""}});
  };
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = send(fd, static_cast<const char*>(mine) + done, bytes - done, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return failed(errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = recv(fd, static_cast<char*>(theirs) + done, bytes - done, 0);
    if (n == 0) return failed(0);
    if (n < 0 && errno != EINTR) return failed(errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace

PortNetwork network_of_ports() {
  PortNetwork network;
  if (const Outside* const outside = Engine::current().outside) outside->network(&network.interfaces, &network.ports);
  return network;
}

Status check_intracomm(const Comm& comm) {
  if (!comm.inter) return {};
  return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "comm"}, {"value", comm.name}});
}

Status meet(Comm& comm, int root, Channel& channel, Status ready, Comm** result) {
  const Span span{comm, root, nullptr, 0, 0, &channel};
  ASHLAR_TRY(agree_to_talk(span, ready));
  return make_spanning(span, *comm.errhandler, result);
}

Status open_port(Info* info, char* port_name) {
  std::string name;
  PortNetwork network = network_of_ports();
  ASHLAR_TRY(take_keys(info, &network));
  ASHLAR_TRY(Engine::current().ports->open(&network, &name));
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return {};
}

Status close_port(const char* port_name) { return Engine::current().ports->close(port_name); }

Status accept(const char* port_name, Info*, int root, Comm& comm, Comm** result) {
  const progress::UserCall call("MPI_Comm_accept", &comm);
  *result = nullptr;
  ASHLAR_TRY(check_intracomm(comm));
  Channel channel;
  Status ready;
  if (comm.rank == root) {
    const std::shared_ptr<Port> port = port_name ? Engine::current().ports->find(port_name) : nullptr;
    if (port)
      take_visitor(comm, *port, &channel);
    else
      ready = fail(MPI_ERR_PORT, "port.not_open");
  }
  return meet(comm, root, channel, ready, result);
}

Status connect(const char* port_name, Info*, int root, Comm& comm, Comm** result) {
  const progress::UserCall call("MPI_Comm_connect", &comm);
  *result = nullptr;
  ASHLAR_TRY(check_intracomm(comm));
  Channel channel;
  Status ready;
  if (comm.rank == root)
    ready =
        port_name ? connect_to(*comm.lane, port_name, connect_timeout(), &channel) : fail(MPI_ERR_PORT, "port.foreign");
  return meet(comm, root, channel, ready, result);
}

Status connect_to_parent(const char* port_name, Comm& world) {
  const progress::UserCall call("MPI_Init", &world);
  Channel channel;
  Status ready;
  if (world.rank == 0) ready = connect_to(*world.lane, port_name, connect_timeout(), &channel);
  Comm* parent = nullptr;
  ASHLAR_TRY(meet(world, 0, channel, ready, &parent));
  parent->name.give("MPI_COMM_PARENT");
  Engine::current().parent = parent;
  return {};
}

// Both open a port; the one whose number is the smaller connects to that of the other. The socket is left as it was:
// each side has read exactly what the other has written.
Status join(int fd, Comm** result) {
  *result = nullptr;
  Comm* const self = resolve(MPI_COMM_SELF);
  if (self == nullptr) return fail(MPI_ERR_COMM, "comm.no_world", {{"call", "MPI_Comm_join"}});
  const progress::UserCall call("MPI_Comm_join", self);
  Port port;
  const PortNetwork network = network_of_ports();
  ASHLAR_TRY(port.open(&network));
  char mine[MPI_MAX_PORT_NAME] = {}, theirs[MPI_MAX_PORT_NAME] = {};
  std::strncpy(mine, port.name().text().c_str(), sizeof mine - 1);
  ASHLAR_TRY(exchange(fd, mine, theirs, sizeof mine));
  theirs[sizeof theirs - 1] = '\0';
  PortName other;
  if (!PortName::parse(theirs, &other)) return fail(MPI_ERR_OTHER, "comm.join_foreign");
  Channel channel;
  Status ready;
  if (port.name().place > other.place)
    take_visitor(*self, port, &channel);
  else
    ready = connect_to(*self->lane, theirs, connect_timeout(), &channel);
  return meet(*self, 0, channel, ready, result);
}

}  // namespace ashlar::comm

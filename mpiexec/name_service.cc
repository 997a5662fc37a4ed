#include "mpiexec/name_service.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "framework/base/stream_socket.h"
#include "framework/plugin/further_job.h"
#include "framework/plugin/name_service.h"

namespace ashlar::mpiexec {
namespace {

namespace names = launch::names;

constexpr std::size_t kMostArrived = 64 << 10;  // a request is one name and one port

}  // namespace

void NameService::admit(Descriptor socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  clients_.push_back({.number = ++admitted_, .socket = std::move(socket), .arrived = {}, .out = {}});
}

void NameService::add(std::vector<pollfd>* fds) {
  first_ = fds->size();
  polled_ = clients_.size();
  for (const Client& client : clients_)
    fds->push_back({client.socket.get(), static_cast<short>(POLLIN | (client.out.empty() ? 0 : POLLOUT)), 0});
}

void NameService::handle(const std::vector<pollfd>& fds) {
  std::deque<Client> still;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (serve(client, i < polled_ && fds[first_ + i].revents != 0))
      still.push_back(std::move(client));
    else
      std::erase_if(names_, [&client](const auto& entry) { return entry.second.client == client.number; });
  }
  clients_ = std::move(still);
  polled_ = 0;
}

/// False: the process is gone, or is no process of ours.
bool NameService::serve(Client& client, bool readable) {
  char bytes[4096];
  while (readable) {
    const ssize_t n = recv(client.socket.get(), bytes, sizeof bytes, 0);
    if (is_later(n)) break;
    if (n <= 0 || client.arrived.size() > kMostArrived) return false;
    client.arrived.append(bytes, static_cast<std::size_t>(n));
  }
  for (std::vector<std::string> request; launch::take_message(&client.arrived, &request);)
    client.out += launch::message_of(answer(client, request));
  return send_some(client.socket.get(), &client.out);
}

std::vector<std::string> NameService::answer(const Client& client, const std::vector<std::string>& request) {
  if (of_user_) return {names::kOfUser};
  const std::string what = request.empty() ? "" : request[0], name = request.size() > 1 ? request[1] : "";
  const auto entry = names_.find(name);
  const bool known = entry != names_.end();
  if (what == names::kLookUp && known) return {names::kFound, entry->second.port};
  if (what == names::kPublish && request.size() > 2) {
    if (known) return {names::kTaken};
    names_[name] = {.port = request[2], .client = client.number};
    return {names::kDone};
  }
  if (what == names::kUnpublish && request.size() > 2 && known && entry->second.client == client.number &&
      entry->second.port == request[2]) {
    names_.erase(entry);
    return {names::kDone};
  }
  return {names::kNone};
}

}  // namespace ashlar::mpiexec

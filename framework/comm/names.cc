#include "framework/comm/names.h"

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/base/shared_file.h"
#include "framework/base/socket_peer.h"
#include "framework/comm/engine.h"
#include "framework/comm/join_api.h"
#include "framework/comm/name_client.h"
#include "framework/comm/ports.h"
#include "framework/plugin/name_service.h"

namespace ashlar::comm {
namespace {

namespace names = launch::names;

constexpr char kMemory[] = "ashlar-name-";
constexpr std::size_t kMostContent = 8192;

/// Names of this user.
std::string key_of(const char* service) { return std::string("user\n") + service; }

std::string number_of(const std::string& key) {
  char number[17];
  std::snprintf(number, sizeof number, "%016" PRIx64, Hash::of(key));
  return number;
}

socklen_t address_of(const std::string& key, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "ashlar-name-%u-%s",
                              static_cast<unsigned>(geteuid()), number_of(key).c_str());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// The key, a newline, the port: what the nameless memory holds.
std::string port_in(int fd, const std::string& key) {
  std::string content(kMostContent, '\0');
  const ssize_t n = pread(fd, content.data(), content.size(), 0);
  content.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return content.starts_with(key + '\n') ? content.substr(key.size() + 1) : std::string();
}

/// The port that process `pid` has published under the key; "" when it cannot be found.
std::string port_of(pid_t pid, const std::string& key) {
  const std::string wanted = std::string("/memfd:").append(kMemory).append(number_of(key));
  char folder[48];
  std::snprintf(folder, sizeof folder, "/proc/%d/fd", static_cast<int>(pid));
  DIR* const all = opendir(folder);
  if (all == nullptr) return {};
  std::string port;
  while (const dirent* const entry = readdir(all)) {
    const std::string path = std::string(folder).append("/").append(entry->d_name);
    char target[300];
    const ssize_t n = readlink(path.c_str(), target, sizeof target);
    if (n <= 0 || !std::string_view(target, static_cast<std::size_t>(n)).starts_with(wanted)) continue;
    const Descriptor memory(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (memory) port = port_in(memory.get(), key);
    if (!port.empty()) break;
  }
  closedir(all);
  return port;
}

/// Asks the launcher's name service; an empty answer: there is none.
Status asked(const std::vector<std::string>& request, int mpi_class, std::vector<std::string>* answer) {
  const Status done = Engine::current().name_client->ask(request, answer);
  if (done.ok()) return {};
  return fail(mpi_class, "name.no_service", {{"lower", done.text()}});
}

}  // namespace

Status Names::publish(const char* service, const char* port) {
  const std::string key = key_of(service);
  const std::lock_guard guard(mutex_);
  Entry entry{.claim = make_socket(), .memory = {}, .port = port};
  sockaddr_un address;
  const socklen_t length = address_of(key, &address);
  const bool bound = entry.claim && bind(entry.claim.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
  if (!bound && errno == EADDRINUSE) return fail(MPI_ERR_SERVICE, "name.taken", {{"value", service}});
  if (!bound) return fail(MPI_ERR_SERVICE, "name.not_published", {{"value", service}, {"lower", std::strerror(errno)}});
  const std::string content = key + '\n' + port;
  char why[300] = "";
  entry.memory = Descriptor(
      make_shared_file(std::string(kMemory).append(number_of(key)).c_str(), /*sealable=*/true, why, sizeof why));
  if (!entry.memory ||
      pwrite(entry.memory.get(), content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
    return fail(MPI_ERR_SERVICE, "name.not_published", {{"value", service}, {"lower", why}});
  fcntl(entry.memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  // From here on it is found.
  if (listen(entry.claim.get(), SOMAXCONN) != 0)
    return fail(MPI_ERR_SERVICE, "name.not_published", {{"value", service}, {"lower", std::strerror(errno)}});
  published_[key] = std::move(entry);
  return {};
}

Status Names::unpublish(const char* service, const char* port) {
  const std::lock_guard guard(mutex_);
  const auto entry = published_.find(key_of(service));
  if (entry == published_.end() || entry->second.port != port)
    return fail(MPI_ERR_SERVICE, "name.not_ours", {{"value", service}});
  published_.erase(entry);
  return {};
}

Status Names::look_up(const char* service, std::string* port) {
  const std::string key = key_of(service);
  const Descriptor probe = make_socket();
  sockaddr_un address;
  const socklen_t length = address_of(key, &address);
  ucred owner;
  if (probe && connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
      is_own_user(probe.get()) && socket_peer(probe.get(), &owner))
    *port = port_of(owner.pid, key);
  return port->empty() ? fail(MPI_ERR_NAME, "name.unknown", {{"value", service}}) : Status();
}

Status publish_name(const char* service_name, Info*, const char* port_name) {
  if (std::strlen(port_name) >= MPI_MAX_PORT_NAME)
    return fail(MPI_ERR_ARG, "argument.too_long",
                {{"argument", "port_name"}, {"length", std::strlen(port_name)}, {"most", MPI_MAX_PORT_NAME - 1}});
  std::vector<std::string> answer;
  ASHLAR_TRY(asked({names::kPublish, service_name, port_name}, MPI_ERR_SERVICE, &answer));
  if (answer.empty()) return Engine::current().names->publish(service_name, port_name);
  return answer[0] == names::kDone ? Status() : fail(MPI_ERR_SERVICE, "name.taken", {{"value", service_name}});
}

Status unpublish_name(const char* service_name, Info*, const char* port_name) {
  std::vector<std::string> answer;
  ASHLAR_TRY(asked({names::kUnpublish, service_name, port_name}, MPI_ERR_SERVICE, &answer));
  if (answer.empty()) return Engine::current().names->unpublish(service_name, port_name);
  return answer[0] == names::kDone ? Status() : fail(MPI_ERR_SERVICE, "name.not_ours", {{"value", service_name}});
}

Status lookup_name(const char* service_name, Info*, char* port_name) {
  std::vector<std::string> answer;
  ASHLAR_TRY(asked({names::kLookUp, service_name}, MPI_ERR_NAME, &answer));
  std::string port;
  if (answer.size() > 1 && answer[0] == names::kFound) port = answer[1];
  // What programs without a launcher have published on this host.
  if (port.empty()) ASHLAR_TRY(Names::look_up(service_name, &port));
  if (port.size() >= MPI_MAX_PORT_NAME) return fail(MPI_ERR_NAME, "name.unknown", {{"value", service_name}});
  std::memcpy(port_name, port.c_str(), port.size() + 1);
  return {};
}

}  // namespace ashlar::comm

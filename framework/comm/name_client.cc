#include "framework/comm/name_client.h"

#include <mpi.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/comm/engine.h"
#include "framework/comm/outside.h"
#include "framework/plugin/further_job.h"
#include "framework/plugin/name_service.h"

namespace ashlar::comm {
namespace {

constexpr timeval kPatience = {30, 0};

Status no_answer(int error) {
  const char* const why =
      error == 0 ? "it has closed the connection" : std::strerror(error == EAGAIN ? ETIMEDOUT : error);
  return fail(MPI_ERR_OTHER, "name.no_service", {{"lower", why}});
}

}  // namespace

Status NameClient::ask(const std::vector<std::string>& request, std::vector<std::string>* answer) {
  const std::lock_guard guard(mutex_);
  answer->clear();
  Outside* const outside = Engine::current().outside;
  if (!tried_ && outside != nullptr) ASHLAR_TRY(outside->name_service(&socket_));
  tried_ = true;
  if (!socket_) return {};
  const Status asked = exchange(request, answer);
  // What was published over the connection is gone with it, and a later call finds that out as this one does.
  if (!asked.ok()) shutdown(socket_.get(), SHUT_RDWR);
  ASHLAR_TRY(asked);
  if (!answer->empty() && answer->front() == launch::names::kOfUser) {
    socket_.reset();
    answer->clear();
  }
  return {};
}

Status NameClient::exchange(const std::vector<std::string>& request, std::vector<std::string>* answer) {
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(socket_.get(), SOL_SOCKET, direction, &kPatience, sizeof kPatience);
  const std::string message = launch::message_of(request);
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t n = send(socket_.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return no_answer(errno);
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
  char bytes[4096];
  while (!launch::take_message(&arrived_, answer)) {
    const ssize_t n = recv(socket_.get(), bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return no_answer(n == 0 ? 0 : errno);
    arrived_.append(bytes, static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace ashlar::comm

#include "components/launch/pmi/environment.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ashlar::launch {
namespace {

bool number(const char* text, std::uint32_t* value) {
  const std::string_view digits = text ? text : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
  return !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

bool read_trace(PmiTrace* trace, char* reason, std::size_t bytes) {
  const char* const fd = std::getenv("PMI_FD");
  const char* const port = std::getenv("PMI_PORT");
  const char* const id = std::getenv("PMI_ID");
  const char* const rank = std::getenv("PMI_RANK");
  const char* const size = std::getenv("PMI_SIZE");
  const char* const job = std::getenv("PMI_JOBID");
  const char* const spawned = std::getenv("PMI_SPAWNED");
  trace->job = job ? job : "";
  trace->spawned = spawned && std::strcmp(spawned, "0") != 0 && *spawned;
  if (!fd && !(port && id)) {
    std::snprintf(reason, bytes, "not under a PMI launcher: %s",
                  port ? "PMI_ID is not set" : "neither PMI_FD nor PMI_PORT is set");
    return false;
  }
  if (!fd) {
    trace->address = port;
    trace->id = id;
    std::snprintf(reason, bytes, "PMI_PORT (%.100s) and PMI_ID (%.20s) are set", port, id);
    return true;
  }
  std::uint32_t descriptor = 0;
  if (!number(rank, &trace->rank) || !number(size, &trace->ranks) || trace->rank >= trace->ranks ||
      trace->ranks > kMostRanks || !number(fd, &descriptor)) {
    std::snprintf(reason, bytes,
                  "PMI_FD=%.20s PMI_RANK=%.20s PMI_SIZE=%.20s are no descriptor, rank and number of ranks", fd,
                  rank ? rank : "", size ? size : "");
    return false;
  }
  // A program that a rank has started inherits the variables, and hardly ever the connection.
  int kind = 0;
  socklen_t length = sizeof kind;
  trace->fd = static_cast<int>(descriptor);
  if (getsockopt(trace->fd, SOL_SOCKET, SO_TYPE, &kind, &length) != 0 || kind != SOCK_STREAM) {
    const bool closed = errno == EBADF;
    std::snprintf(reason, bytes, "descriptor %s, which PMI_FD names, is %s here", fd,
                  closed ? "not open" : "no stream socket");
    return false;
  }
  std::snprintf(reason, bytes, "PMI_FD (%s) is a connection of rank %u of %u", fd, trace->rank, trace->ranks);
  return true;
}

}  // namespace ashlar::launch

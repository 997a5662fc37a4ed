#include "framework/comm/channel.h"

#include <mpi.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "framework/base/failure.h"

namespace ashlar::comm {
namespace {

constexpr std::int64_t kMostWords = std::int64_t{1} << 27;  // no group is as large; a stream out of step looks like it

/// Writes or reads as much as there is room for, or is there. False: the other side has hung up (`error`, or 0).
bool advance(ssize_t (*step)(int, char*, std::size_t), int fd, char* bytes, std::size_t length, std::size_t* done,
             int* error) {
  while (*done < length) {
    const ssize_t n = step(fd, bytes + *done, length - *done);
    if (n > 0) {
      *done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    *error = n < 0 ? errno : 0;
    return false;
  }
  return true;
}

ssize_t send_some(int fd, char* bytes, std::size_t length) { return send(fd, bytes, length, MSG_NOSIGNAL); }
ssize_t receive_some(int fd, char* bytes, std::size_t length) { return recv(fd, bytes, length, 0); }

/// One trade, as far as it has come.
struct Trade {
  int fd;
  std::vector<std::int64_t> out;
  std::vector<std::int64_t>* theirs;
  std::int64_t their_size = 0;
  std::size_t sent = 0, heads = 0, got = 0, wanted = 0;
  int error = 0;
  bool closed = false;

  std::size_t to_send() const { return out.size() * sizeof(std::int64_t); }
  bool complete() const { return sent == to_send() && heads == sizeof their_size && got == wanted; }
  /// False: there is no more to be done.
  bool step() {
    closed = !advance(send_some, fd, reinterpret_cast<char*>(out.data()), to_send(), &sent, &error) ||
             !advance(receive_some, fd, reinterpret_cast<char*>(&their_size), sizeof their_size, &heads, &error);
    if (!closed && heads == sizeof their_size && wanted == 0 && their_size != 0) {
      if (their_size < 0 || their_size > kMostWords) {
        error = EPROTO;
        closed = true;
        return false;
      }
      theirs->resize(static_cast<std::size_t>(their_size));
      wanted = theirs->size() * sizeof(std::int64_t);
    }
    closed = closed || !advance(receive_some, fd, reinterpret_cast<char*>(theirs->data()), wanted, &got, &error);
    return !closed && !complete();
  }
};

}  // namespace

Status Channel::trade(Lane& lane, const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs) {
  theirs->clear();
  Trade trade{.fd = fd(), .out = {static_cast<std::int64_t>(mine.size())}, .theirs = theirs};
  trade.out.insert(trade.out.end(), mine.begin(), mine.end());
  wait_beside(lane, "for the process at the other end of the connection", [&trade] { return !trade.step(); });
  if (!trade.closed) return {};
  return fail(MPI_ERR_OTHER, "comm.channel_closed", {{"lower", trade.error ? std::strerror(trade.error) : ""}});
}

}  // namespace ashlar::comm

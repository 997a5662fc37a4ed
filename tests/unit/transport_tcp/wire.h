#pragma once
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tests/unit/transport_tcp/fixture.h"

namespace ashlar::tcp::test {

/// A wire between processes of this program: what calls 127.0.0.2 at the port that all of them share is passed on to
/// the process behind 127.0.0.1, until the wire is cut.
class Wire {
 public:
  /// How much passes over one connection.
  struct Plan {
    static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t there = kAll, back = kAll;  // bytes after which it is cut; there: from the side that calls
  };

  explicit Wire(const Process& any) : port_(any.address().port) {
    socket_ = make_socket(4);
    const SocketAddress at = address(2);
    const int on = 1;
    (void)setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(bind(socket_.get(), &at.any, at.length), 0);
    EXPECT_EQ(listen(socket_.get(), 64), 0);
  }

  /// The record of a process, with the wire as the only way to it.
  std::string record(const Process& process) const {
    Address record = process.address();
    const std::uint8_t other[4] = {127, 0, 0, 2};
    Candidate way = record.candidates.front();
    for (const Candidate& candidate : record.candidates)
      if (candidate.family == 4) way = candidate;
    std::memcpy(way.bytes, other, sizeof other);
    record.candidates = {way};
    char bytes[1024];
    return {bytes, write(record, bytes, sizeof bytes)};
  }

  /// Of the connections to come, in turn; further ones are whole.
  std::vector<Plan> plans;
  std::size_t most = 65536;  // bytes that one move passes on
  bool down = false;         // nothing passes, and no connection is made
  bool refuses = false;      // the port is closed
  unsigned made = 0, cut = 0;

  void move() {
    if (refuses) socket_.reset();
    while (!down && socket_) {
      Descriptor in(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!in) break;
      auto link = std::make_unique<Link>();
      link->ends[0] = std::move(in);
      link->ends[1] = make_socket(4);
      const SocketAddress to = address(1);
      (void)::connect(link->ends[1].get(), &to.any, to.length);
      for (const Descriptor& end : link->ends) {
        const int on = 1;
        (void)setsockopt(end.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      }
      const Plan plan = made < plans.size() ? plans[made] : Plan{};
      ++made;
      link->left[0] = plan.there;
      link->left[1] = plan.back;
      links_.push_back(std::move(link));
    }
    for (std::size_t i = links_.size(); !down && i-- > 0;)
      if (!pass(*links_[i])) links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// All connections end, with a reset.
  void break_all() {
    for (const auto& link : links_) reset(*link);
    links_.clear();
  }
  std::size_t links() const { return links_.size(); }

 private:
  struct Link {
    Descriptor ends[2];
    std::uint64_t left[2];
    std::string kept[2];
    bool over[2] = {false, false};
  };

  SocketAddress address(std::uint8_t last) const {
    const std::uint8_t bytes[4] = {127, 0, 0, last};
    return {4, bytes, port_};
  }
  void reset(Link& link) {
    ++cut;
    for (Descriptor& end : link.ends) {
      const linger at_once = {.l_onoff = 1, .l_linger = 0};
      (void)setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      end.reset();
    }
  }
  /// False: the connection is over.
  bool pass(Link& link) {
    for (int from = 0; from < 2; ++from) {
      if (!link.kept[from].empty() && !push(link, from)) return false;
      if (!link.kept[from].empty() || link.over[from]) continue;
      char bytes[65536];
      const ssize_t got = recv(link.ends[from].get(), bytes, std::min(most, sizeof bytes), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == ENOTCONN)) continue;
      if (got < 0) {
        reset(link);
        return false;
      }
      if (got == 0) {
        link.over[from] = true;
        shutdown(link.ends[1 - from].get(), SHUT_WR);
        if (link.over[1 - from]) return false;
        continue;
      }
      const auto passing =
          static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(got), link.left[from]));
      if (link.left[from] != Plan::kAll) link.left[from] -= passing;
      link.kept[from].assign(bytes, passing);
      if (!push(link, from)) return false;
      if (passing < static_cast<std::size_t>(got)) {
        reset(link);
        return false;
      }
    }
    return true;
  }
  bool push(Link& link, int from) {
    std::string& kept = link.kept[from];
    while (!kept.empty()) {
      const ssize_t sent = ::send(link.ends[1 - from].get(), kept.data(), kept.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) return true;
      if (sent < 0) {
        reset(link);
        return false;
      }
      kept.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
  }

  const std::uint16_t port_;
  Descriptor socket_;
  std::vector<std::unique_ptr<Link>> links_;
};

template <class Done>
bool pass_until(Wire& wire, const std::vector<Process*>& processes, Done done, int ms = 10000) {
  return progress_until(
      processes,
      [&] {
        wire.move();
        return done();
      },
      ms);
}

}  // namespace ashlar::tcp::test

#pragma once
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/ip_interfaces.h"
#include "framework/base/sha256.h"
#include "framework/base/status.h"
#include "mpiexec/check_order.h"

namespace ashlar::mpiexec {

/// The first bytes of a way that is tried. Who listens says nothing before it has seen that the caller knows the
/// secret, and the caller sends no more before it has seen the same of who answers: two hosts may have one address.
struct WayHello {
  std::array<char, 8> mark;
  std::uint32_t from, to;  // numbers of hosts
  std::uint32_t bytes;     // that come next, and go back
  std::array<std::uint8_t, 16> nonce;
  Digest proof;  // of all before it
};
static_assert(sizeof(WayHello) == 68);

/// Tries the ways between this host and others as transport/tcp would use them: the same addresses in the same order,
/// the same ports, as many bytes both ways. Listens for the other hosts, too. Nothing blocks; a way has
/// WayRules::timeout_ns.
class WayProber {
 public:
  static constexpr std::size_t kMostCalls = 64;  // ways that are tried at one time

  explicit WayProber(WayRules rules);

  /// Opens the port. Fails when there is none to be had, or when a setting means nothing.
  Status open();
  std::uint16_t port() const { return port_; }
  const std::vector<ip::OwnAddress>& own() const { return own_; }
  std::string addresses() const;

  /// The addresses of the target; bytes behind the last whole one are left out.
  static std::vector<ip::Candidate> candidates_of(const WayTarget& target);
  void try_ways(const std::vector<WayTarget>& targets, std::uint64_t now);
  bool asked() const { return asked_; }
  /// Whether all ways that were to be tried have been; then results() has them.
  bool done() const { return asked_ && calls_.empty() && waiting_.empty(); }
  const std::vector<WayResult>& results() const { return results_; }

  void add(std::vector<pollfd>* fds);
  /// `fds`: from where the last add() began.
  void handle(const pollfd* fds, std::uint64_t now);
  /// When handle() is to be called at the latest; never: ~0.
  std::uint64_t next_ns() const;

 private:
  struct Way {
    std::uint32_t host = 0;
    ip::SocketAddress to;
  };
  /// A connection while it is tried, from either end.
  struct Connection {
    Descriptor socket;
    std::uint64_t began = 0, deadline = 0;
    WayHello hello = {};
    std::string in, out;
    std::size_t written = 0;
    std::uint64_t to_send = 0, to_drop = 0;
    bool over = false;
  };
  enum class Stage { kConnecting, kAnswer, kBytes };
  struct Call : Connection {
    Way way;
    std::size_t result = 0;
    Stage stage = Stage::kConnecting;
  };
  struct Guest : Connection {
    bool known = false;
  };
  enum class Read { kAll, kSome, kEnd };

  Digest proof_of(const WayHello& hello, char side) const;
  void start_calls(std::uint64_t now);
  void start(const Way& way, std::uint64_t now);
  bool say_hello(Call& call);
  void go_on(Call& call, std::uint64_t now);
  void end(Call& call, std::uint64_t now, const std::string& why_not);
  void give_links_up(std::uint32_t host, std::uint64_t now);
  std::string late_words(const Call& call) const;
  void accept_guests(std::uint64_t now);
  void go_on(Guest& guest);
  static bool write_some(Connection& connection);
  static Read collect(Connection& connection, std::size_t bytes);
  static Read drop(Connection& connection);
  std::string own_name(const ip::SocketAddress& address) const;

  const WayRules rules_;
  std::vector<ip::OwnAddress> own_;
  Descriptor door_;
  std::uint16_t port_ = 0;
  bool asked_ = false;
  std::list<Way> waiting_;
  std::list<Call> calls_;
  std::list<Guest> guests_;
  std::vector<WayResult> results_;
};

}  // namespace ashlar::mpiexec

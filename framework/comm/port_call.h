#pragma once
#include <cstdint>
#include <list>
#include <string>

#include "framework/base/ip_socket.h"
#include "framework/comm/channel.h"
#include "framework/comm/port_stream.h"
#include "framework/comm/port_wire.h"

namespace ashlar::comm {

/// Calls a port on another host: all of its addresses at once, and goes on with the first behind which something knows
/// the port's key. Never blocks.
class PortCall {
 public:
  enum class State { kGoing, kTaken, kFailed };

  /// How long an address may be silent, in ns since the call began. One that has taken the connection may be slow to
  /// accept.
  struct Patience {
    std::uint64_t usual = 30'000'000'000;
    /// Once a connection to another address was refused: a host answers there, and no socket listens at the port. That
    /// may be a different host with the same private address, so a slow path, or one that loses the first SYNs (Linux
    /// repeats them after 1 and after 3 s), still has time to connect.
    std::uint64_t beside_refusal = 5'000'000'000;
  };

  explicit PortCall(const PortName& port) : PortCall(port, Patience{}) {}
  PortCall(const PortName& port, const Patience& patience);
  PortCall(const PortCall&) = delete;
  PortCall& operator=(const PortCall&) = delete;

  State step();
  /// The connection, once it is welcome.
  Channel take() {
    Way& way = ways_.front();
    return Channel(std::move(way.stream.socket), greeting_of(way).seals(port_.key, PortSide::kCalling));
  }
  /// Why no address leads there: each with its reason.
  const std::string& reasons() const { return reasons_; }

 private:
  enum class Stage { kConnecting, kAnswer, kFilling, kChosen };
  struct Way {
    explicit Way(const ip::SocketAddress& address) : to(address), stream(ip::make_socket(address.family())) {}
    ip::SocketAddress to;
    PortStream stream;
    Stage stage = Stage::kConnecting;
    NetworkHello hello = {};
    Challenge challenge = {};
    std::string trouble = {};  // why it leads nowhere
  };

  static PortGreeting greeting_of(const Way& way) { return {.hello = way.hello, .answer = way.challenge.nonce}; }
  bool go_on(Way& way);
  bool connected(Way& way);
  void choose(std::list<Way>::iterator way);
  State await_welcome(Way& way);
  void leave_out(const ip::SocketAddress& to, const std::string& why);

  const PortName port_;
  const Patience patience_;
  const std::uint64_t began_;
  bool refused_ = false;  // by an address at least
  std::list<Way> ways_;   // in the order of their promise; the chosen one alone
  std::string reasons_;
};

}  // namespace ashlar::comm

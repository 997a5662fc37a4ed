#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/address.h"
#include "components/transport/tcp/outbox.h"
#include "components/transport/tcp/socket.h"
#include "framework/plugin/stripes.h"
#include "framework/plugin/transport.h"

namespace ashlar::tcp {

/// A connection that broke and has not been followed by another one yet.
struct Break {
  std::uint64_t since = 0;  // by the clock; 0: there is none
  SocketAddress at;         // the peer's end
  std::string reason;
};

/// What the other side of a new connection says of the messages between the two.
struct Standing {
  std::uint64_t epoch = 0;
  std::uint64_t received = 0;  // messages of this process
  std::uint64_t next = 0;      // number of its next message
};

/// Whose interface has called this process, as it said itself.
struct Caller {
  std::uint64_t job[2] = {};
  std::uint32_t rank = 0;
};

class Connection;
class Dial;
class Interface;
class Rails;
struct StripedGet;

/// A read of the peer's memory that this process has asked for.
struct Get {
  std::byte* to;
  std::uint64_t region, offset;
  std::uint64_t length, received;
  ashlar_completion* done;
  // Of a stripe, whose message has the completion; else nullptr, and the first connection's.
  StripedGet* whole = nullptr;
  Connection* over = nullptr;
};

/// The way to one process: known by connect(), by a connection of that process, or both. What has to outlive a
/// connection is here.
struct Endpoint : ashlar_endpoint {
  Endpoint(BlockPool& pool, Outbox::Levels levels) : ashlar_endpoint(), out(pool, levels) {}

  enum class Way {
    kDown,       // no connection, and no need of one
    kDialling,   // see `dial`
    kExpecting,  // the peer dials; its connection is kept
    kUp,         // `connection` carries what is sent
    kFailed
  };

  Interface* iface = nullptr;
  std::uint64_t nonce = 0;  // of the peer's interface
  Way way = Way::kDown;
  bool held = false;         // by the kernel: between connect() and disconnect()
  bool known = false;        // `address` is there
  bool told = false;         // the decision record of the first path
  bool told_flight = false;  // that of the bytes in flight
  bool told_piece = false;   // that of the pieces it reads
  bool left = false;         // it has closed its connection in good order
  bool leaves = false;       // the kernel does not hold it any more, and messages to it wait for a connection
  Address address;
  Caller caller;
  std::uint16_t port = 0;  // that it listens on, as it said itself; 0: it has not called yet
  std::unique_ptr<Dial> dial;
  Connection* connection = nullptr;
  std::uint64_t epoch = 0;  // of the connection, or of the last one
  Outbox out;
  std::uint64_t unwanted_before = 0;  // messages before this one are not sent again: the peer has left
  std::uint64_t received = 0;         // messages
  std::uint64_t asked = 0;            // the peer was asked to say that it has the messages before this one
  std::map<std::uint64_t, Get> gets;
  std::uint64_t next_get = 1;
  plugin::RailMeter meter;       // of large gets that are no stripes
  std::uint64_t last_heard = 0;  // by the clock
  Break broken;
  std::string failure;
  bool may_have_rails = false;   // both have several network interfaces
  std::unique_ptr<Rails> rails;  // since the first large message that was read

  /// Whether the peer may make rails, over which it reads memory of this process.
  bool may_read() const { return way != Way::kFailed && peer != ASHLAR_NOBODY; }
  /// Something of this process does not get on without a connection.
  bool needs_connection() const;
  bool has_room(std::size_t bytes) const;
  /// Much is kept, and the peer has not been asked yet.
  bool should_ask() const;
  bool waits_for_answer() const { return asked > out.acknowledged(); }
  /// What the head of a frame says of the messages received.
  std::uint16_t count() const { return static_cast<std::uint16_t>(received); }

 private:
  std::uint64_t most_kept() const;
};

/// Gets of so many bytes count for what the path costs.
inline constexpr std::uint64_t kMeasuredFrom = 64 * 1024;

extern const ashlar_endpoint_ops kEndpointOps;

}  // namespace ashlar::tcp

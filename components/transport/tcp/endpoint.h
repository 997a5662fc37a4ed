#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/address.h"
#include "components/transport/tcp/stream.h"
#include "framework/plugin/transport.h"

namespace ashlar::tcp {

class Connection;
class Dial;
class Interface;

/// A read of the peer's memory that this process has asked for.
struct Get {
  std::byte* to;
  std::uint64_t length, received;
  ashlar_completion* done;
};

/// A read of this process's memory that the peer has asked for.
struct Serving {
  std::uint64_t request, region;
  const std::byte* at;
  std::uint64_t offset, left;
};

/// The way to one process: known by connect(), by a connection of that process, or both.
struct Endpoint : ashlar_endpoint {
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
  bool held = false;   // by the kernel: between connect() and disconnect()
  bool known = false;  // `address` is there
  bool told = false;   // the decision record of the first path
  bool left = false;   // it has closed its connection in good order
  Address address;
  std::unique_ptr<Dial> dial;
  Connection* connection = nullptr;
  std::vector<Connection*> endings;  // said or heard their last frame; nothing newer is read before their end
  Stream pending;                    // waits for a connection
  std::map<std::uint64_t, Get> gets;
  std::uint64_t next_get = 1;
  std::deque<Serving> serving;
  std::string failure;

  bool needs_connection() const { return !pending.empty() || !gets.empty() || !serving.empty(); }
};

extern const ashlar_endpoint_ops kEndpointOps;

}  // namespace ashlar::tcp

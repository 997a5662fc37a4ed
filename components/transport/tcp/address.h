#pragma once
#include <cstdint>
#include <vector>

#include "components/transport/tcp/socket.h"
#include "components/transport/tcp/wire.h"
#include "framework/plugin/component.h"

namespace ashlar::tcp {

/// How a process can be reached, and what proves that it is reached: its record, a secret among the job's processes.
struct Address {
  std::uint64_t nonce = 0;  // of the interface
  std::uint64_t host = 0;   // where loopback addresses mean the same (host_here)
  Secret secret = {};
  std::uint16_t port = 0;
  std::vector<Candidate> candidates;  // best first

  /// The candidate that has this address, or nullptr.
  const Candidate* find(const SocketAddress& at) const;
};

/// Writes the record: as many candidates as there is room for. Returns its length; 0: no room for one.
std::uint32_t write(const Address& address, void* out, std::uint32_t room);
/// Reads a record that came from a peer. Fails with ASHLAR_ERR_OTHER and a sentence when it is damaged or not ours.
ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length, Address* out);

/// Random bytes that cannot be guessed; false: the system gives none.
bool draw(void* out, std::size_t bytes);

}  // namespace ashlar::tcp

#pragma once
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::shm {

/// How a process can be reached through shared memory: the bytes of the transport address.
struct Address {
  std::uint32_t magic;
  std::uint16_t version, size;
  std::uint64_t nonce;          // of this interface
  std::uint64_t node;           // hash of the boot id
  std::uint64_t pid_namespace;  // pid and fd mean something only inside it
  std::uint64_t start_time;     // of the process, so that a reused pid is not taken for it
  std::uint64_t self;           // where the process has its segment mapped
  std::int32_t pid, fd;
  std::uint32_t slots, reserved;
  std::uint64_t ring_bytes;
  std::uint64_t
      cookie;  // what requests for the descriptor must have (door.h); addresses reach connected processes alone
  std::uint64_t checksum;  // over all before
};
static_assert(sizeof(Address) == 88);

/// What tells this node and this process from others.
struct Identity {
  std::uint64_t node = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t net_namespace = 0;
  std::uint64_t start_time = 0;
  std::int32_t pid = 0;
  static Identity of_this_process();
};

void seal(Address& address);
/// Reads an address that came from a peer. Fails with ASHLAR_ERR_OTHER and a sentence when it is damaged or not ours.
ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length, Address* out);

/// Start time of process `pid` in clock ticks since boot; 0 when it cannot be read. `state`: its letter in /proc, or 0.
std::uint64_t start_time_of(std::int32_t pid, char* state = nullptr);

}  // namespace ashlar::shm

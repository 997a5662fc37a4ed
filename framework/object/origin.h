#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace ashlar {

namespace p2p {
class SendBuffer;
}

/// What everything made from one session, or from the world model, has in common: groups lead to it, communicators
/// through their groups. It lives as long as any of them, so that none of them has to be looked at when a session ends.
struct Origin {
  std::atomic<std::int32_t> references{1};
  /// For buffered sends (MPI_Session_attach_buffer); p2p makes it on first use, `at_end` drops it.
  p2p::SendBuffer* send_buffer = nullptr;
  bool of_session = false;
  int session = 0;           // the number in the session's name
  std::string memory_kinds;  // value of the info key mpi_memory_alloc_kinds
  void (*at_end)(Origin&) = nullptr;
};

void destroy(Origin* origin);

/// check.sessions: whether calls are refused that are given objects of different origins.
extern std::atomic<bool> origins_checked;

}  // namespace ashlar

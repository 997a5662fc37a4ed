#pragma once
#include <atomic>
#include <cstdint>

#include "framework/p2p/message.h"
#include "framework/p2p/send_buffer.h"

namespace ashlar::p2p {

/// What the lanes of one process share. The process owns it; it outlives the lanes that are attached with it.
struct ProcessState {
  /// Bytes of unexpected messages kept on all lanes, which p2p.unexpected_total_limit bounds. A count, ordered with
  /// nothing: relaxed.
  std::atomic<std::uint64_t> unexpected_bytes{0};
  std::atomic<std::uint64_t> contexts_taken{0};  // by communicators: setup.h. Ordered with nothing
  SendBuffer send_buffer;                        // of MPI_Buffer_attach
  MessageObject no_proc;                         // MPI_MESSAGE_NO_PROC
  std::atomic<bool> leaves{false};  // the process is inside MPI_Finalize, and has taken leave of other jobs
};

}  // namespace ashlar::p2p

#pragma once
#include <cstdint>

#include "framework/progress/request.h"

namespace ashlar::p2p {

class SendBuffer;

/// The request of MPI_Buffer_iflush: complete when all messages below a number have left their buffer. They may leave
/// on any lane, so the request polls the buffer in every round of its own lane.
struct FlushRequest : Request, Poller {
  FlushRequest(const RequestOps& o, Comm& nowhere, SendBuffer& b, Comm* of);
  ~FlushRequest();
  SendBuffer* const buffer;
  Ref<Comm> owner;  // of the buffer, if that is a communicator: it lives until the request is over
  const std::uint64_t until;
};

}  // namespace ashlar::p2p

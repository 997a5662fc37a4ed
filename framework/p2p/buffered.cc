#include "framework/p2p/api.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/send_buffer.h"
#include "framework/p2p/sending.h"
#include "framework/progress/waiting.h"

// Buffered sends: a message that cannot leave at once is packed into the buffer and leaves on its own.
namespace ashlar::p2p {
namespace {

// Rounds of progress before a full buffer is an error: what has left may not have been noticed yet.
constexpr int kRoundsBeforeRefusal = 64;

SendBuffer& buffer_for(LaneState& state, Comm& comm) {
  if (comm.send_buffer != nullptr && comm.send_buffer->attached()) return *comm.send_buffer;
  if (const Origin* const origin = comm.local_group ? comm.local_group->origin.get() : nullptr)
    if (origin->send_buffer != nullptr && origin->send_buffer->attached()) return *origin->send_buffer;
  return state.process.send_buffer;
}

/// The message is in the buffer or on its way when this returns.
Status send_buffered(Lane& lane, Comm& comm, const DataView& data, Rank to, Tag tag, Procedure call)
    ASHLAR_REQUIRES(lane.lock) {
  SendBuffer& buffer = buffer_for(*lane.p2p, comm);
  const auto bytes = static_cast<std::size_t>(data.bytes());
  // Room is asked for even when the message then leaves without it: whether a program fails must not depend on that.
  BufferedMessage* kept = buffer.reserve(bytes);
  for (int round = 0; kept == nullptr && buffer.attached() && round < kRoundsBeforeRefusal; ++round) {
    progress::look(lane);
    kept = buffer.reserve(bytes);
  }
  if (kept == nullptr) return buffer.refusal(name_of(call), bytes);
  SendRequest* r = nullptr;
  const Status started =
      start_send(lane, {.comm = comm, .data = data, .to = to, .tag = tag, .call = call, .kept = kept}, &r);
  if (r == nullptr) {  // it has left without its place in the buffer, or could not be started
    buffer.give_back(kept);
    return started;
  }
  if (!r->complete()) {
    r->flags &= static_cast<std::uint8_t>(~Request::kHeld);  // releases itself when it has left
    return {};
  }
  const Status outcome = r->outcome;
  r->ops->release(*r);
  return outcome;
}

Status start_buffered(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  if (r.source != MPI_PROC_NULL)
    ASHLAR_TRY(send_buffered(r.lane(), *r.comm, r.data, r.source, r.tag, Procedure::kBsendInit));
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  r.finish(Status{});
  return {};
}

}  // namespace

// Complete as soon as it is started; what is under way is a send of its own.
// Forwarded by calls, not copied: copies of another file's table would be made at load time, not by the compiler.
constinit const RequestOps kBufferedOps = {
    .release = [](Request& request) { kSendOps.release(request); },
    .start = start_buffered,
    .describe = [](const Request& request, char* out, std::size_t room) { kSendOps.describe(request, out, room); }};

Status bsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  if (dest == MPI_PROC_NULL) return {};
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  return send_buffered(lane, comm, DataView::of(buf, count, type), dest, tag, Procedure::kBsend);
}

Status ibsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (dest != MPI_PROC_NULL)
    ASHLAR_TRY(send_buffered(lane, comm, DataView::of(buf, count, type), dest, tag, Procedure::kIbsend));
  *request = lane.p2p->sent;
  return {};
}

}  // namespace ashlar::p2p

#include <cstdio>
#include <cstring>
#include <new>

#include "framework/base/failure.h"
#include "framework/p2p/buffer_api.h"
#include "framework/p2p/flush_request.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/send_buffer.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

// Attaching, detaching and flushing the buffers of buffered sends.
namespace ashlar::p2p {
namespace {

bool look_whether_left(Poller& poller) {
  auto& r = static_cast<FlushRequest&>(poller);
  if (!r.buffer->left(r.until)) return false;
  List<Poller>::remove(&r);
  r.finish(Status{});
  return true;
}

void release_flush(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<FlushRequest&>(request);
  r.lane().p2p->flushes.put(&r);
}

void describe_flush(const Request&, char* out, std::size_t room) {
  std::snprintf(out, room, "MPI_Buffer_iflush of messages that have not left");
}

const RequestOps kFlushOps = {.release = release_flush, .describe = describe_flush};

// The process's buffer is guarded by a lock of its own.
SendBuffer* of_process(Lane& lane) ASHLAR_NO_THREAD_SAFETY { return &lane.p2p->process.send_buffer; }

}  // namespace

FlushRequest::FlushRequest(const RequestOps& o, Comm& nowhere, SendBuffer& b, Comm* of)
    : Request(o, nowhere), buffer(&b), until(b.next_number()) {
  poll = look_whether_left;
  if (of != nullptr) owner = Ref<Comm>::share(*of);
}

FlushRequest::~FlushRequest() = default;

Status attach_to(Lane& lane, SendBuffer** slot, void* buffer, MPI_Count size) {
  const LaneGuard guard(lane.lock);
  if (*slot == nullptr) {
    *slot = new (std::nothrow) SendBuffer;
    if (*slot == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the record of a buffer"}});
  }
  return (*slot)->attach(buffer, size);
}

Status flush(Lane& lane, SendBuffer* slot) {
  if (slot == nullptr) return {};
  const LaneGuard guard(lane.lock);
  const std::uint64_t until = slot->next_number();
  const auto tell = [](const void*, Lane&, plugin::AccountWriter& account) {
    account.waits_for(plugin::kNoPeer, "for its buffered messages to leave");
  };
  // On whatever lane: waiting drives them all.
  progress::wait(lane, [&] { return slot->left(until); }, {tell, nullptr});
  return {};
}

Status detach_from(Lane& lane, SendBuffer* slot, void* buffer_addr, MPI_Count* size) {
  void* memory = nullptr;
  *size = 0;
  ASHLAR_TRY(flush(lane, slot));
  if (slot != nullptr) slot->detach(&memory, size);
  std::memcpy(buffer_addr, &memory, sizeof memory);
  return {};
}

Status iflush(Lane& lane, SendBuffer* slot, Request** request, Comm* owner) {
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  if (slot == nullptr || slot->empty()) {
    *request = state.sent;
    return {};
  }
  FlushRequest* const r = state.flushes.take(kFlushOps, state.nowhere, *slot, owner);
  if (r == nullptr) return no_request(state.flushes);
  lane.pollers.push_back(r);
  *request = r;
  return {};
}

void drop_buffer(SendBuffer** slot) {
  delete *slot;
  *slot = nullptr;
}

Status buffer_attach(Lane& lane, void* buffer, MPI_Count size) { return of_process(lane)->attach(buffer, size); }
Status buffer_detach(Lane& lane, void* buffer_addr, MPI_Count* size) {
  return detach_from(lane, of_process(lane), buffer_addr, size);
}
Status buffer_flush(Lane& lane) { return flush(lane, of_process(lane)); }
Status buffer_iflush(Lane& lane, Request** request) { return iflush(lane, of_process(lane), request); }

Status comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) {
  return attach_to(*comm.lane, &comm.send_buffer, buffer, size);
}
Status comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size) {
  return detach_from(*comm.lane, comm.send_buffer, buffer_addr, size);
}
Status comm_flush_buffer(Comm& comm) { return flush(*comm.lane, comm.send_buffer); }
Status comm_iflush_buffer(Comm& comm, Request** request) {
  return iflush(*comm.lane, comm.send_buffer, request, &comm);
}

}  // namespace ashlar::p2p

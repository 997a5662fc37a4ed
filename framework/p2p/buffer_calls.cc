#include <cstdio>
#include <cstring>
#include <new>

#include "framework/object/pool.h"
#include "framework/p2p/buffer_api.h"
#include "framework/p2p/send_buffer.h"
#include "framework/p2p/state.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

// Attaching, detaching and flushing the buffers of buffered sends.
namespace ashlar::p2p {
namespace {

/// Complete when all messages below a number have left their buffer. That may happen on any lane, so the request looks
/// itself, in every round of its own.
struct FlushRequest : Request, Poller {
  FlushRequest(const RequestOps& o, Lane& lane, SendBuffer& b, Comm* of);
  SendBuffer* const buffer;
  Comm* const owner;  // of the buffer, if that is a communicator: it lives on as long as somebody looks
  const std::uint64_t until;
};

constinit Pool<FlushRequest> requests;

bool look_whether_left(Poller& poller) {
  auto& r = static_cast<FlushRequest&>(poller);
  if (!r.buffer->left(r.until)) return false;
  List<Poller>::remove(&r);
  r.finish(Status{});
  return true;
}

FlushRequest::FlushRequest(const RequestOps& o, Lane& lane, SendBuffer& b, Comm* of)
    : Request(o, lane.p2p->nowhere), buffer(&b), owner(of), until(b.next_number()) {
  poll = look_whether_left;
  if (owner != nullptr) hold(*owner);
}

void release_flush(Request& request) {
  auto& r = static_cast<FlushRequest&>(request);
  if (r.owner != nullptr) let_go(*r.owner);
  requests.put(&r);
}

void describe_flush(const Request&, char* out, std::size_t room) {
  std::snprintf(out, room, "MPI_Buffer_iflush of messages that have not left");
}

const RequestOps kFlushOps = {.release = release_flush, .describe = describe_flush};

}  // namespace

Status attach_to(SendBuffer** slot, void* buffer, MPI_Count size) {
  const LaneGuard guard(home().lock);
  if (*slot == nullptr) {
    *slot = new (std::nothrow) SendBuffer;
    if (*slot == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for the record of a buffer");
  }
  return (*slot)->attach(buffer, size);
}

Status flush(SendBuffer* slot) {
  if (slot == nullptr) return {};
  Lane& lane = home();
  const LaneGuard guard(lane.lock);
  const std::uint64_t until = slot->next_number();
  const auto tell = [](const void*, Lane&, plugin::AccountWriter& account) {
    account.waits_for(plugin::kNoPeer, "for its buffered messages to leave");
  };
  // On whatever lane: waiting drives them all.
  progress::wait(lane, [&] { return slot->left(until); }, {tell, nullptr});
  return {};
}

Status detach_from(SendBuffer* slot, void* buffer_addr, MPI_Count* size) {
  void* memory = nullptr;
  *size = 0;
  ASHLAR_TRY(flush(slot));
  if (slot != nullptr) slot->detach(&memory, size);
  std::memcpy(buffer_addr, &memory, sizeof memory);
  return {};
}

Status iflush(SendBuffer* slot, Request** request, Comm* owner) {
  Lane& lane = home();
  const LaneGuard guard(lane.lock);
  if (slot == nullptr || slot->empty()) {
    *request = lane.p2p->sent;
    return {};
  }
  FlushRequest* const r = requests.take(kFlushOps, lane, *slot, owner);
  if (r == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for a request");
  lane.pollers.push_back(r);
  *request = r;
  return {};
}

void drop_buffer(SendBuffer** slot) {
  delete *slot;
  *slot = nullptr;
}

Status buffer_attach(void* buffer, MPI_Count size) { return process_send_buffer().attach(buffer, size); }
Status buffer_detach(void* buffer_addr, MPI_Count* size) {
  return detach_from(&process_send_buffer(), buffer_addr, size);
}
Status buffer_flush() { return flush(&process_send_buffer()); }
Status buffer_iflush(Request** request) { return iflush(&process_send_buffer(), request); }

Status comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) {
  return attach_to(&comm.send_buffer, buffer, size);
}
Status comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size) {
  return detach_from(comm.send_buffer, buffer_addr, size);
}
Status comm_flush_buffer(Comm& comm) { return flush(comm.send_buffer); }
Status comm_iflush_buffer(Comm& comm, Request** request) { return iflush(comm.send_buffer, request, &comm); }

}  // namespace ashlar::p2p

#include "framework/io/collective.h"

#include <cstdio>
#include <utility>

#include "framework/base/failure.h"
#include "framework/io/collective_request.h"
#include "framework/io/engine.h"
#include "framework/object/limit.h"
#include "framework/progress/waiting.h"

namespace ashlar::io {
namespace {

std::uint64_t next_number(OpenFile& file) { return ++file.together_begun; }

}  // namespace

Status run_together(const char* call, const Transfer& what, Status own, MPI_Count* moved) {
  Comm& comm = *what.file.comm;
  const LaneGuard guard(comm.lane->lock);
  coll::CommState* state = nullptr;
  ASHLAR_TRY(coll::state_of(comm, &state));
  Together access(call, what);
  access.note(own);
  access.number = next_number(what.file);
  access.blocking = true;
  alignas(64) std::byte memory[CollectiveRequest::kBlockBytes];
  coll::Block block(memory, sizeof memory, state->chunks);
  coll::Op op(state->wire, comm.rank, comm.size, kMessages, block, true);
  const coll::Co co = run_together(op, access);
  *moved = access.bytes_moved();
  return co.started() ? co.status() : op.failure();
}

Status start_together(const char* call, const Transfer& what, Status own, Request** request) {
  Comm& comm = *what.file.comm;
  Engine& engine = Engine::current();
  const LaneGuard guard(comm.lane->lock);
  coll::CommState* state = nullptr;
  ASHLAR_TRY(coll::state_of(comm, &state));
  CollectiveRequest* const made = engine.collectives.take(*state, call, what, own);
  if (made == nullptr) return object::none_left("another request", engine.collectives.out_level());
  if (const Status started = made->run(); !started.ok()) {
    made->ops->release(*made);
    return started;
  }
  // The call that begins an access moves the shared pointer.
  if (what.in_turn) progress::wait(*comm.lane, [made] { return made->placed() || made->complete(); });
  *request = made;
  return {};
}

const RequestOps CollectiveRequest::kOps = {.release = &CollectiveRequest::release,
                                            .start = nullptr,
                                            .cancel = nullptr,
                                            .describe = &CollectiveRequest::describe};

CollectiveRequest::CollectiveRequest(coll::CommState& of, const char* call, const Transfer& what, Status own)
    : Request(kOps, of.comm),
      owner_(Ref<Comm>::share(of.comm)),
      type_(Ref<Datatype>::share(*what.buffer.type)),
      access_(call, what),
      counted_(what.file.requests),
      block_(memory_, sizeof memory_, of.chunks),
      op_(of.wire, of.comm.rank, of.comm.size, kMessages, block_, false) {
  access_.note(own);
  access_.number = next_number(what.file);
  over_.run = &CollectiveRequest::over;
  over_.lane = of.comm.lane;
  over_.request = this;
}

Status CollectiveRequest::run() {
  ++access_.file().pending;
  co_ = io::run_together(op_, access_);
  if (!co_.started()) {
    --access_.file().pending;
    return op_.failure();
  }
  if (co_.done()) {
    end(co_.status());
    return {};
  }
  finished_.add();
  co_.promise().joined = &finished_;
  finished_.on_open(over_);
  return {};
}

void CollectiveRequest::end(Status with) {
  --access_.file().pending;
  bytes = access_.bytes_moved();
  finish(with);
}

void CollectiveRequest::over(Waiter& self) {
  CollectiveRequest& request = *static_cast<Over&>(self).request;
  request.end(request.finished_.status());
}

void CollectiveRequest::release(Request& self) {
  auto& request = static_cast<CollectiveRequest&>(self);
  const Ref<Comm> comm = std::move(request.owner_);
  Engine::current().collectives.put(&request);
}

void CollectiveRequest::describe(const Request& self, char* out, std::size_t room) {
  const auto& request = static_cast<const CollectiveRequest&>(self);
  std::snprintf(out, room, "%s on a file of '%s'", request.access_.call, request.comm->name.c_str());
}

}  // namespace ashlar::io

#include "framework/io/request.h"

#include <cstdio>

#include "framework/base/failure.h"
#include "framework/io/engine.h"
#include "framework/object/limit.h"
#include "framework/progress/waiting.h"

namespace ashlar::io {
namespace {

void release_request(Request& request) { Engine::current().requests.put(static_cast<IoRequest*>(&request)); }

void describe_request(const Request& request, char* out, std::size_t room) {
  std::snprintf(out, room, "%s on a file of '%s'", static_cast<const IoRequest&>(request).call,
                request.comm->name.c_str());
}

const RequestOps kOps = {.release = release_request, .describe = describe_request};

/// Whether the call itself makes the transfer: it is short, and ends by itself, or functions of the program convert.
bool at_once(const Transfer& what) {
  if (what.file.view.rep->kind == Datarep::Kind::kUser) return true;
  return what.file.seekable() &&
         static_cast<std::uint64_t>(what.buffer.bytes()) < Engine::current().config.get().async_above;
}

}  // namespace

void TransferJob::run() { request.failure.take(transfer(request.what, &request.moved)); }

void TransferJob::over() {
  --request.what.file.pending;
  request.bytes = request.moved;
  request.finish(request.failure.give());
}

Status start_transfer(const char* call, const Transfer& what, Request** out) {
  Engine& engine = Engine::current();
  IoRequest* const request = engine.requests.take(kOps, call, what);
  if (request == nullptr) return object::none_left("another request", engine.requests.out_level());
  if (at_once(what)) {
    const Status done = transfer(what, &request->moved);
    const LaneGuard guard(request->lane().lock);
    if (!done.ok()) {
      release_request(*request);
      return done;
    }
    request->bytes = request->moved;
    request->finish({});
  } else {
    Lane& lane = request->lane();
    const LaneGuard guard(lane.lock);
    request->job.lane = &lane;
    ++what.file.pending;
    what.file.counts.asynchronous.add();
    (what.file.seekable() ? engine.worker : what.file.own_worker()).push(request->job);
  }
  *out = request;
  return {};
}

void wait_for_pending(OpenFile& file) {
  Lane& lane = *file.comm->lane;
  const LaneGuard guard(lane.lock);
  progress::wait(lane, [&file] { return file.pending == 0; });
}

}  // namespace ashlar::io

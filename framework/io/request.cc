#include "framework/io/request.h"

#include <cstdio>

#include "framework/io/engine.h"
#include "framework/object/limit.h"

namespace ashlar::io {
namespace {

void release_request(Request& request) { Engine::current().requests.put(static_cast<IoRequest*>(&request)); }

void describe_request(const Request& request, char* out, std::size_t room) {
  std::snprintf(out, room, "an access to a file of '%s'", request.comm->name.c_str());
}

const RequestOps kOps = {.release = release_request, .describe = describe_request};

}  // namespace

Status give_out(OpenFile& file, MPI_Count bytes, Request** out) {
  Pool<IoRequest>& requests = Engine::current().requests;
  IoRequest* const request = requests.take(kOps, *file.comm);
  if (request == nullptr) return object::none_left("another request", requests.out_level());
  const LaneGuard guard(request->lane().lock);
  request->bytes = bytes;
  request->finish({});
  *out = request;
  return {};
}

}  // namespace ashlar::io

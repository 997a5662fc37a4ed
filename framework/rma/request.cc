#include "framework/rma/request.h"

#include <cstdio>

#include "framework/base/failure.h"
#include "framework/p2p/lane_state.h"
#include "framework/rma/engine.h"

namespace ashlar::rma {
namespace {

void release_request(Request& request) { Engine::current().requests.put(static_cast<RmaRequest*>(&request)); }

void describe_request(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const RmaRequest&>(request);
  std::snprintf(out, room, "%s to rank %d on '%s'", r.call, r.target, r.comm->name.c_str());
}

const RequestOps kOps = {.release = release_request, .describe = describe_request};

void finish_request(Waiter& waiter) {
  auto& request = static_cast<RmaRequest&>(waiter);
  request.finish(request.pending.status());
}

}  // namespace

RmaRequest::RmaRequest(const RequestOps& operations, RmaWindow& of, const char* name, Rank rank)
    : Request(operations, *of.comm), owner(Ref<Comm>::share(*of.comm)), call(name), target(rank) {
  run = &finish_request;
  Waiter::lane = of.comm->lane;
}

Status complete_request(RmaWindow& window, Request** out) {
  const LaneGuard guard(window.lane().lock);
  *out = window.lane().p2p->sent;
  return {};
}

Status take_request(RmaWindow& window, const char* call, Rank target, RmaRequest** out) {
  Pool<RmaRequest>& requests = Engine::current().requests;
  *out = requests.take(kOps, window, call, target);
  return *out != nullptr ? Status() : object::none_left("another request", requests.out_level());
}

Status give_out(RmaWindow& window, RmaRequest& request, Status started, Request** out) {
  const LaneGuard guard(window.lane().lock);
  if (!started.ok()) {
    Engine::current().requests.put(&request);
    return started;
  }
  if (request.pending.open()) {
    const Status outcome = request.pending.status();
    Engine::current().requests.put(&request);
    *out = window.lane().p2p->sent;
    return outcome;
  }
  request.pending.on_open(request);
  *out = &request;
  return {};
}

}  // namespace ashlar::rma

#include <cstdio>

#include "framework/base/clock.h"
#include "framework/p2p/state.h"

namespace ashlar::p2p {
namespace {

class Teller {
 public:
  Teller(void (*line)(void*, const char*), void* argument) : line_(line), argument_(argument) {}
  void tell(const Request& request) {
    char text[320];
    request.ops->describe(request, text, sizeof text);
    line_(argument_, text);
  }
  void say(const char* text) { line_(argument_, text); }

 private:
  void (*line_)(void*, const char*);
  void* argument_;
};

}  // namespace

void describe_active(Lane& lane, void (*line)(void* argument, const char* text), void* argument) {
  Teller teller(line, argument);
  LaneState& state = *lane.p2p;
  if (lane.waiting_since != 0) {
    char text[80];
    std::snprintf(text, sizeof text, "a call has been waiting for %.1f s",
                  static_cast<double>(now_ns() - lane.waiting_since) * 1e-9);
    teller.say(text);
  }
  state.posted.table().each([&](match::Entry& entry) { teller.tell(static_cast<RecvRequest&>(entry)); });
  state.unpaired.receives.each([&](match::Entry& entry) {
    const auto& receive = static_cast<PartRecv&>(entry);
    if (receive.active()) teller.tell(receive);
  });
  lane.peers.each([&](Peer& peer) {
    for (ActiveHook& hook : peer.link(lane).active) teller.tell(static_cast<Operation&>(hook));
  });
}

bool quiet(Lane& lane) {
  bool active = !lane.stalled.empty();
  lane.peers.each([&](Peer& peer) {
    Link& link = peer.link(lane);
    active = active || !link.pending.empty() || !link.bulk.empty() || !link.active.empty();
  });
  return !active;
}

}  // namespace ashlar::p2p

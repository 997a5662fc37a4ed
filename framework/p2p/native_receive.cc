#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/native.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/host.h"
#include "framework/plugin/tables.h"

// Which links the network matches for, and the receives that it has.
namespace ashlar::p2p {

NativeMatching::NativeMatching(Lane& lane, ashlar_iface& iface, const ashlar_iface_attributes& attributes)
    : lane_(lane), iface_(iface), tags_(*iface.ops->tags), most_(attributes.tag_most) {
  layout_.bits = attributes.tag_bits;
  claim_.of = this;
  claim_.done = [](ashlar_tag_receive* self, const ashlar_tag_event* event) {
    static_cast<Claim*>(self)->of->claimed(*event);
  };
  poll = [](Poller& self) { return static_cast<NativeMatching&>(self).look(); };
}

void use_tags(Lane& lane, ashlar_iface& iface) {
  LaneState& state = *lane.p2p;
  if (state.native != nullptr || iface.ops->tags == nullptr) return;
  const ashlar_iface_attributes attributes = plugin::attributes_of(iface);
  if (attributes.tag_bits <= TagLayout::kTagBits + TagLayout::kKindBits || attributes.tag_bits > 64) return;
  state.native.reset(new (std::nothrow) NativeMatching(lane, iface, attributes));
  if (state.native == nullptr) return;
  lane.unusual = 1;
  lane.pollers.push_back(state.native.get());
  for (const Id id : {kCancel, kRecall}) lane.handlers[id] = on_cancel_native;
  lane.handlers[kTaggedRts] = [](Lane& l, const ashlar_am& am)
                                  ASHLAR_NO_THREAD_SAFETY { l.p2p->native->on_rts(l, am); };
  lane.handlers[kTaggedTaken] = [](Lane& l, const ashlar_am& am)
                                    ASHLAR_NO_THREAD_SAFETY { l.p2p->native->on_taken(am); };
  lane.handlers[kTaggedAsk] = [](Lane& l, const ashlar_am& am)
                                  ASHLAR_NO_THREAD_SAFETY { l.p2p->native->on_ask(l, am); };
  lane.handlers[kTaggedSent] = [](Lane& l, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY { l.p2p->native->on_sent(am); };
}

const char* NativeMatching::judge(Link& link) ASHLAR_NO_THREAD_SAFETY {
  if (link.native != nullptr) return "";
  if (link.is_self) return "it is this process itself";
  if (link.iface != &iface_) return "another transport leads there, which matches no tags";
  if ((link.endpoint->capabilities & ASHLAR_CAP_TAG) == 0) return "the peer's transport does not match the same tags";
  if (lane_.peers.is_of_other_job(link.peer->id)) return "it is of another job";
  if (link.endpoint->max_short < sizeof(Rts)) return "the transport's short messages are too short";
  links_.push_back(std::make_unique<NativeLink>(link));
  link.native = links_.back().get();
  return "";
}

NativeLink* NativeMatching::link_of(PeerId peer) const ASHLAR_NO_THREAD_SAFETY {
  Link* const link = progress::link_of(lane_, peer);
  return link != nullptr ? link->native : nullptr;
}

bool NativeMatching::take(RecvRequest& r) ASHLAR_NO_THREAD_SAFETY {
  if (!carries(*r.comm, r.key.context())) return false;
  const Rank source = r.key.source();
  if (source == MPI_ANY_SOURCE) return file();
  Link* link = nullptr;
  if (!open_link(lane_, *r.comm, source, &link).ok() || link->native == nullptr) return false;
  NativeReceive* const receive = file_here_ ? nullptr : receives_.take();
  if (receive == nullptr) return file();
  const auto room = static_cast<std::uint32_t>(std::min<MPI_Count>(r.size, most_));
  void* to = r.data.data;
  if (!r.data.dense() && room != 0) to = receive->bounce = std::malloc(room);
  const bool any_tag = r.key.tag == MPI_ANY_TAG;
  const std::uint64_t tag = layout_.make(r.key.context(), any_tag ? 0 : r.key.tag, TagLayout::kWhole);
  const std::uint64_t ignored = layout_.kinds() | (any_tag ? (std::uint64_t{1} << TagLayout::kTagBits) - 1 : 0);
  receive->request = &r;
  receive->link = link->native;
  receive->done = [](ashlar_tag_receive* self, const ashlar_tag_event* event) ASHLAR_NO_THREAD_SAFETY {
    auto& over = *static_cast<NativeReceive*>(self);
    over.request->lane().p2p->native->over(over, *event);
  };
  place(r) = receive;
  posted_.push_back(receive);
  const ashlar_result result =
      to == nullptr && room != 0 ? ASHLAR_AGAIN : tags_.receive(link->endpoint, tag, ignored, to, room, receive);
  if (result == ASHLAR_PENDING) return true;
  put(*receive);
  place(r) = nullptr;
  // A peer that has failed is told to all in the next round of progress.
  return file();
}

bool NativeMatching::file() ASHLAR_NO_THREAD_SAFETY {
  lane_.p2p->counters.native_filed.add();
  file_here();
  return false;
}

void NativeMatching::put(NativeReceive& receive) {
  std::free(receive.bounce);
  List<NativeReceive>::remove(&receive);
  receives_.put(&receive);
}

void NativeMatching::cancel(RecvRequest& r) { tags_.cancel(&iface_, static_cast<NativeReceive*>(place(r))); }

void NativeMatching::end(RecvRequest& r, Status outcome) {
  auto& receive = *static_cast<NativeReceive*>(place(r));
  receive.ending = true;
  receive.outcome = outcome;
  cancel(r);
}

ashlar_am NativeMatching::envelope_of(const ashlar_tag_event& event) const {
  const auto source = static_cast<Rank>(event.immediate >> 32);
  return {.h0 = match::Key::place(layout_.context(event.tag), source),
          .h1 = tag_word(TagLayout::tag(event.tag), low_word(event.immediate)),
          .data = event.data,
          .length = static_cast<std::uint32_t>(event.length),
          .peer = event.peer,
          .id = layout_.kind(event.tag) == TagLayout::kAnnounced ? kRts : kEager};
}

void NativeMatching::over(NativeReceive& receive, const ashlar_tag_event& event) ASHLAR_NO_THREAD_SAFETY {
  RecvRequest& r = *receive.request;
  place(r) = nullptr;
  if (event.result == ASHLAR_OK) return land(receive, r, event);
  Status outcome = receive.outcome;
  const bool ending = receive.ending;
  put(receive);
  if (event.result != ASHLAR_AGAIN) {
    r.source = r.key.source();
    r.finish(ending ? outcome : transport_failure(event.result, r));
    return;
  }
  if (ending) {
    r.source = r.key.source();
    r.finish(outcome);
    return;
  }
  lane_.p2p->counters.cancelled.add();
  r.flags |= Request::kCancelled;
  r.bytes = 0;
  r.finish(Status{});
}

void NativeMatching::land(NativeReceive& receive, RecvRequest& r,
                          const ashlar_tag_event& event) ASHLAR_NO_THREAD_SAFETY {
  ashlar_am am = envelope_of(event);
  lane_.p2p->counters.native_received.add();
  count_taken(*receive.link, event.length, am.id == kRts);
  if (am.id == kRts) {
    put(receive);
    return accept_announced(r, {am.peer, am.h0, am.h1});
  }
  am.data = receive.bounce;
  const bool in_place = receive.bounce == nullptr;
  accept_native(lane_, r, am, in_place);
  put(receive);
}

/// The message's details travel in a frame, which is here first but where the transport is short of memory.
void NativeMatching::accept_announced(RecvRequest& r, const Name& name) ASHLAR_NO_THREAD_SAFETY {
  const auto found = announced_.find(name);
  if (found == announced_.end()) {
    matched_.emplace(name, &r);
    return;
  }
  const KeptRts rts = found->second;
  announced_.erase(found);
  const auto [peer, h0, h1] = name;
  accept_native(lane_, r, {.h0 = h0, .h1 = h1, .data = rts.data, .length = rts.length, .peer = peer, .id = kRts},
                false);
}

void NativeMatching::on_rts(Lane& lane, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  const Name name = {am.peer, am.h0, am.h1};
  ashlar_am rts = am;
  rts.id = kRts;
  if (const auto found = matched_.find(name); found != matched_.end()) {
    RecvRequest& r = *found->second;
    matched_.erase(found);
    return accept_native(lane, r, rts, false);
  }
  if (held_ && held_name_ == name) {
    held_ = false;
    return deliver(rts);
  }
  KeptRts kept;
  kept.length = std::min<std::uint32_t>(am.length, sizeof kept.data);
  std::memcpy(kept.data, am.data, kept.length);
  announced_.emplace(name, kept);
}

void NativeMatching::peer_failed(Lane& lane, PeerId peer) ASHLAR_NO_THREAD_SAFETY {
  each([&](RecvRequest& r) {
    const auto& receive = *static_cast<NativeReceive*>(place(r));
    if (receive.link->link.peer->id == peer && !receive.ending) end(r, fail_gone(lane, r, r.key.source(), peer));
  });
  const auto of_peer = [peer](const auto& entry) { return std::get<0>(entry.first) == peer; };
  std::erase_if(announced_, of_peer);
  for (auto at = matched_.begin(); at != matched_.end();) {
    RecvRequest* const r = of_peer(*at) ? at->second : nullptr;
    if (r == nullptr) {
      ++at;
      continue;
    }
    at = matched_.erase(at);
    r->source = r->key.source();
    r->finish(fail_gone(lane, *r, r->key.source(), peer));
  }
  if (held_ && std::get<0>(held_name_) == peer) held_ = false;
}

}  // namespace ashlar::p2p

#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/send_push.h"
#include "framework/p2p/sending.h"
#include "framework/p2p/traffic.h"

namespace ashlar::p2p {
namespace {

/// How the message travels if the network matches it: whole only in standard mode, as its receiver answers nothing
/// then.
Protocol protocol_of(const Link& link, const Comm& comm, std::uint32_t context, MPI_Count bytes, SendMode mode) {
  const Protocol protocol = choose_protocol(link, comm, bytes);
  const NativeMatching* const native = native_for(link, comm, context);
  if (native == nullptr || (mode == SendMode::kStandard && native->takes_whole(link, bytes))) return protocol;
  return Protocol::kRendezvous;
}

/// Gives an eager message of standard mode to the endpoint without a request. False: something is in the way.
bool send_at_once(Link& link, const Sending& m) {
  const std::uint32_t low = m.collective() ? m.called.brief() : m.name;
  if (NativeMatching* const native = native_for(link, m.comm, high_word(m.envelope()))) {
    return link.pending.empty() && native->send(link, m.envelope(), tag_word(m.tag, low), m.data,
                                                static_cast<std::uint32_t>(m.data.bytes())) == ASHLAR_OK;
  }
  if (link.budget <= 0) return false;
  return give_whole(link, kEager, m.envelope(), tag_word(m.tag, low), m.data, m.data.bytes()) == ASHLAR_OK;
}

/// The first push. Whatever waits for room goes first; bulk data does not, because messages may pass the fragments of
/// others.
void launch(Lane& lane, Link& link, Protocol protocol, SendRequest& r) ASHLAR_REQUIRES(lane.lock) {
  r.link = &link;
  r.protocol = protocol;
  r.sent = r.wanted = 0;
  r.matched = r.left_eager = false;
  r.push = lane.p2p->check && !r.collective ? push_signature : push_message;
  link.active.push_back(&r);
  about_to_use(lane, link);
  if (!link.pending.empty() || r.push(r, link) == ASHLAR_AGAIN) {
    lane.p2p->counters.queued.add();
    progress::enqueue(lane, link, r);
  }
}

/// The request of a buffered message, packed into the place reserved for it: it is the user's no more.
Status make_buffered(Lane& lane, const Sending& m, SendRequest** out) ASHLAR_REQUIRES(lane.lock) {
  datatype::pack(m.data, 0, m.kept->data(), m.kept->bytes);
  lane.p2p->counters.buffered.add();
  lane.p2p->counters.buffered_bytes.add(m.kept->bytes);
  DataView packed;
  Ref<Datatype> stands;
  ASHLAR_TRY(stand_in(m.comm, m.kept->data(), m.data, &stands, &packed));
  SendRequest* const r = lane.p2p->sends.take(m.comm, m.call, packed, m.data.bytes(), m.to, m.tag);
  if (r == nullptr) return no_request(lane.p2p->sends);
  r->kept = m.kept;
  r->share_objects();
  *out = r;
  return {};
}

Status make_request(Lane& lane, const Sending& m, SendRequest** out) ASHLAR_REQUIRES(lane.lock) {
  if (m.kept != nullptr) return make_buffered(lane, m, out);
  SendRequest* const r = lane.p2p->sends.take(m.comm, m.call, m.data, m.data.bytes(), m.to, m.tag);
  if (r == nullptr) return no_request(lane.p2p->sends);
  r->mode = m.mode;
  r->collective = m.collective();
  r->called = m.called;
  *out = r;
  return {};
}

}  // namespace

Status start_send(Lane& lane, const Sending& m, SendRequest** out) {
  *out = nullptr;
  Link* link = nullptr;
  ASHLAR_TRY(open_link(lane, m.comm, m.to, &link));
  if (LaneLock::counts()) [[unlikely]]
    count_sent(m.comm, m.to, m.data.bytes());
  const Protocol protocol = protocol_of(*link, m.comm, high_word(m.envelope()), m.data.bytes(), m.mode);
  if (protocol == Protocol::kEager && m.mode == SendMode::kStandard && send_at_once(*link, m)) return {};
  ASHLAR_TRY(make_request(lane, m, out));
  launch(lane, *link, protocol, **out);
  return {};
}

Status start_again(Lane& lane, SendRequest& r) {
  Link* link = nullptr;
  ASHLAR_TRY(open_link(lane, *r.comm, r.source, &link));
  if (LaneLock::counts()) [[unlikely]]
    count_sent(*r.comm, r.source, r.size);
  r.outcome = Status{};
  r.flags &= static_cast<std::uint8_t>(~Request::kCancelled);
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  launch(lane, *link, protocol_of(*link, *r.comm, r.context(), r.size, r.mode), r);
  return {};
}

Status start_send_on_gate(Lane& lane, const Sending& m, Gate& gate) {
  SendRequest* r = nullptr;
  ASHLAR_TRY(start_send(lane, m, &r));
  if (r == nullptr) return {};
  if (r->active()) {
    gate.add();
    r->gate = &gate;
    return {};
  }
  const Status outcome = r->outcome;
  lane.p2p->sends.put(r);
  return outcome;
}

}  // namespace ashlar::p2p

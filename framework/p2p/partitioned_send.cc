#include <algorithm>
#include <cstdio>

#include "framework/base/failure.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/config.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/partitioned.h"
#include "framework/p2p/partitioned_api.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/send_now.h"

namespace ashlar::p2p {
namespace {

/// Whether there is something that may leave now.
bool may_send(const PartSend& r) { return !r.leaving.empty() && r.active() && r.allowed >= r.rounds; }

/// The round is over: nothing is readable any more.
void end_round(PartSend& r, Status outcome) {
  r.settle();
  if (r.exposed) {
    r.exposed = false;
    r.link->iface->ops->unexpose(r.link->iface, &r.key);
  }
  r.lent.clear();
  r.finish(outcome);
}

void end_when_sent(PartSend& r) {
  if (r.sent == static_cast<std::uint64_t>(r.size) && r.marked == r.partitions) end_round(r, Status{});
}

/// Whether the receiver shall read `range` from here, rather than be sent it.
bool may_lend(PartSend& r, const PartSend::Range& range, const Link& link) ASHLAR_NO_THREAD_SAFETY {
  const Config& config = link.lane->p2p->config;
  if (r.in_pieces || !config.single_copy || !r.data.dense() || link.iface->ops->expose == nullptr) return false;
  if (range.first == range.last || range.last - range.first < smallest_read(config, *link.endpoint)) return false;
  if (!r.exposed) {
    r.exposed = link.iface->ops->expose(link.iface, r.data.data, static_cast<std::uint64_t>(r.size), ASHLAR_MEMORY_HOST,
                                        &r.key) == ASHLAR_OK;
    r.in_pieces = !r.exposed;
  }
  return r.exposed;
}

std::size_t fill_plain(void* argument, void* to, std::size_t room) {
  std::memcpy(to, argument, room);
  return room;
}

/// Gives `said` to the endpoint, whatever its longest short message is.
template <class Said>
ashlar_result tell(ashlar_endpoint* endpoint, Id id, std::uint64_t h0, std::uint64_t h1, Said said) {
  return sizeof said <= endpoint->max_short
             ? endpoint->ops->am_short(endpoint, id, h0, h1, &said, sizeof said)
             : endpoint->ops->am_bcopy(endpoint, id, h0, h1, fill_plain, &said, sizeof said);
}

ashlar_result push_piece(PartSend& r, PartSend::Range& range, ashlar_endpoint* endpoint) {
  const std::uint64_t left = range.last - range.first;
  const auto length = static_cast<std::uint32_t>(left < endpoint->max_bcopy ? left : endpoint->max_bcopy);
  Piece piece{&r.data, range.first};
  const ashlar_result result = endpoint->ops->am_bcopy(endpoint, kPartData, pair_word(r.remote, r.name()), range.first,
                                                       Piece::fill, &piece, length);
  if (result != ASHLAR_OK) return result;
  range.first += length;
  r.sent += length;
  return ASHLAR_OK;
}

ashlar_result push_range(Pending& work, Link& link) {
  PartSend& r = static_cast<PartSend&>(work);
  if (!may_send(r)) return ASHLAR_OK;
  PartSend::Range& range = r.leaving.front();
  ashlar_result result;
  if (may_lend(r, range, link)) {
    result = tell(link.endpoint, kPartReady, pair_word(r.remote, r.name()), range.first,
                  PartReady{.bytes = range.last - range.first, .key = r.key});
    if (result == ASHLAR_OK) {
      r.lent.push_back(range);
      range.first = range.last;
    }
  } else {
    result = push_piece(r, range, link.endpoint);
  }
  if (result == ASHLAR_AGAIN) return result;
  if (result < 0) {
    end_round(r, transport_failure(result, r));
    return result;
  }
  if (range.first == range.last) r.leaving.pop_front();
  if (!r.leaving.empty()) return ASHLAR_PENDING;
  end_when_sent(r);
  return ASHLAR_OK;
}

void put(PartSend& r) ASHLAR_NO_THREAD_SAFETY { r.lane().p2p->part_sends.put(&r); }

void abandon_part_send(Pending& work, Link&) {  // the request ends through Link::active
  if (auto& r = static_cast<PartSend&>(work); r.freed) put(r);
}

/// Sends what may leave, at once as far as there is room: the caller may not come back soon.
void send_ready(Lane& lane, PartSend& r) ASHLAR_REQUIRES(lane.lock) {
  if (r.pending().linked() || !may_send(r)) return;
  Link& link = *r.link;
  about_to_use(lane, link);
  if (link.pending.empty() && link.bulk.empty()) {
    ashlar_result result;
    do {
      result = push_range(r, link);
    } while (result == ASHLAR_PENDING);
    if (result != ASHLAR_AGAIN) return;
  }
  progress::enqueue(lane, link, r, /*bulk=*/true);
}

ashlar_result push_offer(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  PartSend& r = static_cast<PartSend&>(work);
  if (r.lane().p2p->check && SignatureCheck::send_ahead(r.data, link.endpoint) == ASHLAR_AGAIN) return ASHLAR_AGAIN;
  const ashlar_result result =
      tell(link.endpoint, kPartOffer, match::Key::place(r.context(), r.comm->rank), tag_word(r.tag, r.name()),
           PartOffer{.serial = r.serial, .bytes = static_cast<std::uint64_t>(r.size)});
  if (result == ASHLAR_AGAIN) return result;
  if (result < 0) r.broken = transport_failure(result, r);
  r.push = push_range;
  if (r.freed) put(r);
  return ASHLAR_OK;
}

void release_part_send(Request& request) {
  auto& r = static_cast<PartSend&>(request);
  if (r.pending().linked() && r.push == push_offer) {
    r.freed = true;  // the other side pairs in the order of making, so the offer has to leave all the same
  } else {
    put(r);
  }
}

Status start_part_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<PartSend&>(request);
  if (!r.broken.ok()) return r.broken;
  if (r.source != MPI_PROC_NULL) {
    Link* link = nullptr;
    ASHLAR_TRY(open_link(r.lane(), r.link->peer->id, &link));  // it may have gone since
  }
  r.outcome = Status{};
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  r.ready.assign(static_cast<std::size_t>(r.partitions), false);
  r.leaving.clear();
  r.lent.clear();
  r.marked = 0;
  r.sent = 0;
  ++r.rounds;
  if (r.source == MPI_PROC_NULL) {
    r.finish(Status{});
    return {};
  }
  r.link->active.push_back(&r);
  if (r.partitions == 0) {
    r.leaving.push_back({0, 0});
    send_ready(r.lane(), r);
  }
  return {};
}

void describe_part_send(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const PartSend&>(request);
  std::snprintf(out, room, "MPI_Psend_init to rank %d tag %d on '%s': %d of %d partitions marked ready%s", r.source,
                r.tag, r.comm->name.c_str(), r.marked, r.partitions,
                r.allowed < r.rounds ? ", the receiver has not started" : "");
}

bool peer_of_part_send_failed(Request& request, Status outcome) {
  end_round(static_cast<PartSend&>(request), outcome);
  return true;
}

/// Marks [low, high] ready. Nothing is marked when one of them cannot be.
Status mark(PartSend& r, int low, int high) {
  if (low < 0 || high >= r.partitions || low > high)
    return fail(MPI_ERR_ARG, "partitioned.range", {{"first", low}, {"last", high}, {"most", r.partitions - 1}});
  for (int i = low; i <= high; ++i)
    if (r.ready[static_cast<std::size_t>(i)]) return fail(MPI_ERR_ARG, "partitioned.marked", {{"partition", i}});
  for (int i = low; i <= high; ++i) r.ready[static_cast<std::size_t>(i)] = true;
  r.marked += high - low + 1;
  const PartSend::Range range{static_cast<std::uint64_t>(low) * r.partition_bytes,
                              static_cast<std::uint64_t>(high + 1) * r.partition_bytes};
  if (r.partition_bytes == 0) {
    if (r.marked == r.partitions) r.leaving.push_back({0, 0});  // nothing but the message that it is all there
    return {};
  }
  if (!r.leaving.empty() && r.leaving.back().last == range.first) {
    r.leaving.back().last = range.last;  // neighbours leave together
  } else {
    r.leaving.push_back(range);
  }
  return {};
}

/// Takes the lock, checks, lets `marks` mark, and sends.
template <class Marks>
Status with_ready(Request* request, Marks marks) {
  if (request == nullptr || request->ops != &kPartSendOps)
    return fail(MPI_ERR_REQUEST, "request.made_otherwise", {{"argument", "request"}, {"call", "MPI_Psend_init"}});
  auto& r = static_cast<PartSend&>(*request);
  if (r.source == MPI_PROC_NULL) return {};
  Lane& lane = r.lane();
  const LaneGuard guard(lane.lock);
  if (!r.active()) return fail(MPI_ERR_REQUEST, "partitioned.inactive", {{"argument", "request"}});
  progress::poll(lane);  // kPartGo may be here
  const Status marked = marks(r);
  send_ready(lane, r);
  return marked;
}

}  // namespace

const RequestOps kPartSendOps = {.release = release_part_send,
                                 .start = start_part_send,
                                 .describe = describe_part_send,
                                 .peer_failed = peer_of_part_send_failed};

PartSend::PartSend(Comm& c, const DataView& whole, int partition_count, Rank dest, Tag with_tag,
                   std::uint64_t serial_number)
    : Operation(kPartSendOps, c, Procedure::kPsendInit, whole, whole.bytes()),
      serial(serial_number),
      partitions(partition_count),
      partition_bytes(partition_count > 0
                          ? static_cast<std::uint64_t>(whole.bytes()) / static_cast<std::uint64_t>(partition_count)
                          : 0) {
  source = dest;
  tag = with_tag;
  push = push_offer;
  abandon = abandon_part_send;
  flags |= kPersistent;
  state.store(State::kInactive, std::memory_order_relaxed);
}

Status psend_init(const void* buf, int partitions, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  Info*, Request** request) {
  if (partitions < 0)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "partitions"}, {"value", partitions}, {"wanted", "0 or more"}});
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  PartSend* const r = state.part_sends.take(comm, DataView::of(buf, count * partitions, type), partitions, dest, tag,
                                            ++state.part_serial);
  if (r == nullptr) return no_request(state.part_sends);
  if (dest != MPI_PROC_NULL) {
    const Status opened = open_link(lane, comm, dest, &r->link);
    if (!opened.ok()) {
      put(*r);
      return opened;
    }
    Link& link = *r->link;
    about_to_use(lane, link);
    if (!link.pending.empty() || push_offer(*r, link) == ASHLAR_AGAIN) progress::enqueue(lane, link, *r);
  }
  r->share_objects();
  *request = r;
  return {};
}

Status pready(int partition, Request* request) {
  return with_ready(request, [=](PartSend& r) { return mark(r, partition, partition); });
}

Status pready_range(int partition_low, int partition_high, Request* request) {
  return with_ready(request, [=](PartSend& r) { return mark(r, partition_low, partition_high); });
}

Status pready_list(int length, const int* partitions, Request* request) {
  return with_ready(request, [=](PartSend& r) {
    for (int i = 0; i < length; ++i) ASHLAR_TRY(mark(r, partitions[i], partitions[i]));
    return Status{};
  });
}

namespace {

/// The request of that name, active or not; nullptr: there is none any more.
PartSend* sending(std::uint32_t name) {
  void* const at = at_name(name);
  if (!Arena::contains(at)) return nullptr;
  auto* const request = static_cast<Request*>(static_cast<Object*>(at));
  const bool is_one = request->kind == Kind::kRequest && request->ops == &kPartSendOps;
  return is_one ? static_cast<PartSend*>(request) : nullptr;
}

}  // namespace

void on_part_refused(Lane&, const ashlar_am& am) {
  PartSend* const r = sending(high_word(am.h0));
  if (r == nullptr || r->serial != am.h1) return;
  r->broken = fail(MPI_ERR_NO_MEM, "partitioned.refused",
                   {{"peer", r->source}, {"tag", r->tag}, {"communicator", r->comm->name}});
  if (r->active()) end_round(*r, r->broken);
}

void on_part_go(Lane& lane, const ashlar_am& am) {
  PartSend* const r = sending(high_word(am.h0));
  if (r == nullptr || r->serial != am.h1) return;  // the one that was meant is gone
  r->remote = low_word(am.h0);
  ++r->allowed;
  send_ready(lane, *r);
}

void on_part_read(Lane& lane, const ashlar_am& am) {
  PartSend* const r = sending(high_word(am.h0));
  if (r == nullptr || !r->active()) return;
  const auto lent = std::find_if(r->lent.begin(), r->lent.end(), [&am](const PartSend::Range& range) {
    return range.first <= am.h1 && am.h1 < range.last;
  });
  if (lent == r->lent.end()) return;
  const PartSend::Range range = *lent;
  r->lent.erase(lent);
  if (am.id == kPartRead) {
    r->sent += range.last - range.first;
    return end_when_sent(*r);
  }
  r->sent += am.h1 - range.first;
  r->leaving.push_back({am.h1, range.last});
  r->in_pieces = true;
  send_ready(lane, *r);
}

}  // namespace ashlar::p2p

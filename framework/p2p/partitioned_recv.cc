#include <algorithm>
#include <cstdio>
#include <utility>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/kept_offers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/partitioned.h"
#include "framework/p2p/partitioned_api.h"
#include "framework/p2p/receiving.h"

namespace ashlar::p2p {
namespace {

// MPI_Parrived sees what has been read after this many bytes; more at a time would not be faster.
constexpr std::uint64_t kLongestRead = 1 << 20;

/// The data of one round may come.
void let_come(Lane& lane, PartRecv& r) ASHLAR_REQUIRES(lane.lock) {
  r.link->active.push_back(&r);
  send_control(lane, *r.link, kPartGo, pair_word(r.remote, r.name()), r.serial);
}

void end_round(PartRecv& r) {
  r.settle();
  std::fill(r.missing.begin(), r.missing.end(), 0);  // a shorter message completes all partitions
  r.bytes = r.refused ? 0 : static_cast<MPI_Count>(std::min(r.coming, static_cast<std::uint64_t>(r.size)));
  r.finish(r.outcome);
}

/// What follows a start when the sender is known, or its being known when started.
void run_round(Lane& lane, PartRecv& r) ASHLAR_REQUIRES(lane.lock) {
  if (r.coming > static_cast<std::uint64_t>(r.size)) r.outcome = wrong_size(r, r.coming);
  if (r.sent_signature != nullptr) {
    const Status same =
        SignatureCheck::compare(r, "MPI_Precv_init", *r.sent_signature, static_cast<MPI_Count>(r.coming));
    r.refused = !same.ok();
    if (r.refused) r.outcome = same;
  }
  let_come(lane, r);  // of a message without bytes, the word that all its partitions are ready
}

Status pair_up(Lane& lane, PartRecv& r, PeerId peer, std::uint32_t name, const PartOffer& offer,
               std::unique_ptr<SentSignature> sent_signature) ASHLAR_REQUIRES(lane.lock) {
  ASHLAR_TRY(open_link(lane, peer, &r.link));
  r.remote = name;
  r.serial = offer.serial;
  r.coming = offer.bytes;
  r.sent_signature = std::move(sent_signature);
  if (r.active()) run_round(lane, r);
  return {};
}

void put(PartRecv& r) ASHLAR_NO_THREAD_SAFETY { r.lane().p2p->part_receives.put(&r); }

void release_part_recv(Request& request) {
  auto& r = static_cast<PartRecv&>(request);
  if (r.filed()) {
    r.freed = true;  // it keeps its place: the offer that comes for it must not go to a later one
  } else {
    put(r);
  }
}

void forget(match::Table& receives, PartRecv& r) {
  receives.remove(r);
  put(r);
}

Status start_part_recv(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<PartRecv&>(request);
  if (!r.broken.ok()) return r.broken;
  if (r.source != MPI_PROC_NULL) {
    Link* link = nullptr;
    ASHLAR_TRY(open_link(r.lane(), *r.comm, r.source, &link));  // it may have gone since
  }
  r.outcome = Status{};
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  r.received = 0;
  r.lent.clear();
  r.bytes = 0;
  r.missing.assign(static_cast<std::size_t>(r.partitions), r.partition_bytes);
  if (r.source == MPI_PROC_NULL) {
    r.tag = MPI_ANY_TAG;
    r.missing.assign(r.missing.size(), 0);
    r.finish(Status{});
  } else if (r.paired()) {
    run_round(r.lane(), r);
  }
  return {};
}

void describe_part_recv(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const PartRecv&>(request);
  std::snprintf(out, room, "MPI_Precv_init from rank %d tag %d on '%s': %llu of %lld bytes%s", r.source, r.tag,
                r.comm->name.c_str(), static_cast<unsigned long long>(r.received), static_cast<long long>(r.size),
                r.paired() ? "" : ", no matching MPI_Psend_init yet");
}

bool peer_of_part_recv_failed(Request& request, Status outcome) {
  auto& r = static_cast<PartRecv&>(request);
  if (r.reader.asked != 0) return false;
  r.lent.clear();
  r.finish(outcome);
  return true;
}

}  // namespace

const RequestOps kPartRecvOps = {.release = release_part_recv,
                                 .start = start_part_recv,
                                 .describe = describe_part_recv,
                                 .peer_failed = peer_of_part_recv_failed};

PartRecv::PartRecv(Comm& c, const DataView& whole, int partition_count, Rank from, Tag with_tag)
    : Operation(kPartRecvOps, c, Procedure::kPrecvInit, whole, whole.bytes()),
      partitions(partition_count),
      partition_bytes(partition_count > 0
                          ? static_cast<std::uint64_t>(whole.bytes()) / static_cast<std::uint64_t>(partition_count)
                          : 0) {
  source = from;
  tag = with_tag;
  key = {match::Key::place(c.context, from), with_tag};
  flags |= kPersistent;
  state.store(State::kInactive, std::memory_order_relaxed);
}
PartRecv::~PartRecv() = default;

namespace {

/// The place of a request that is made now: that of the offer which comes next in its order, or one to wait in.
Status take_place(Lane& lane, PartRecv& r) ASHLAR_REQUIRES(lane.lock) {
  const NextOffer next = next_offer(*lane.p2p, r.key);
  switch (next.is) {
    case NextOffer::Is::kToCome:
      lane.p2p->unpaired.receives.insert(r);
      return {};
    case NextOffer::Is::kUnknown:
      return fail(MPI_ERR_NO_MEM, "partitioned.order_lost",
                  {{"peer", r.source}, {"tag", r.tag}, {"communicator", r.comm->name}});
    case NextOffer::Is::kRefused:
      r.broken = fail(MPI_ERR_NO_MEM, "partitioned.refused_here",
                      {{"peer", r.source}, {"tag", r.tag}, {"communicator", r.comm->name}});
      break;
    case NextOffer::Is::kKept:
      KeptOffer& kept = *next.kept;
      ASHLAR_TRY(pair_up(lane, r, kept.peer, kept.name, kept.offer, std::move(kept.sent_signature)));
  }
  pass(*lane.p2p, next);
  return {};
}

}  // namespace

Status precv_init(void* buf, int partitions, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, Info*,
                  Request** request) {
  if (partitions < 0)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "partitions"}, {"value", partitions}, {"wanted", "0 or more"}});
  if (source == MPI_ANY_SOURCE)
    return fail(MPI_ERR_RANK, "argument.value",
                {{"argument", "source"},
                 {"value", "MPI_ANY_SOURCE"},
                 {"wanted", "one rank, which partitioned messages come from"}});
  if (tag == MPI_ANY_TAG)
    return fail(
        MPI_ERR_TAG, "argument.value",
        {{"argument", "tag"}, {"value", "MPI_ANY_TAG"}, {"wanted", "one tag, which partitioned messages have"}});
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  PartRecv* const r = state.part_receives.take(comm, DataView{buf, count * partitions, &type}, partitions, source, tag);
  if (r == nullptr) return no_request(state.part_receives);
  r->share_objects();
  if (source != MPI_PROC_NULL) {
    if (const Status placed = take_place(lane, *r); !placed.ok()) {
      r->ops->release(*r);
      return placed;
    }
  }
  *request = r;
  return {};
}

Status parrived(Request* request, int partition, int* flag) {
  *flag = 1;
  if (request == nullptr) return {};
  if (request->ops != &kPartRecvOps)
    return fail(MPI_ERR_REQUEST, "request.made_otherwise", {{"argument", "request"}, {"call", "MPI_Precv_init"}});
  auto& r = static_cast<PartRecv&>(*request);
  if (partition < 0 || partition >= r.partitions)
    return fail(MPI_ERR_ARG, "argument.range",
                {{"argument", "partition"}, {"value", partition}, {"first", 0}, {"last", r.partitions - 1}});
  Lane& lane = r.lane();
  const LaneGuard guard(lane.lock);
  if (!r.active()) return {};
  const std::uint64_t& missing = r.missing[static_cast<std::size_t>(partition)];
  // Partitions without bytes are there when the message is.
  const auto there = [&] { return r.partition_bytes != 0 ? missing == 0 : !r.active(); };
  if (!there()) progress::look(lane);
  *flag = there();
  return {};
}

namespace {

/// There is no room to keep the offer: its sender must not wait for a receiver that will never know of it.
void refuse(Lane& lane, const ashlar_am& am, const PartOffer& offer) ASHLAR_REQUIRES(lane.lock) {
  Link* link = nullptr;
  const Status opened = open_link(lane, am.peer, &link);
  if (opened.ok()) return send_control(lane, *link, kPartRefused, pair_word(low_word(am.h1), 0), offer.serial);
  ASHLAR_LOG(error, "p2p", "the offer of a partitioned message from process %u cannot be kept, nor refused: %s",
             am.peer, opened.text());
}

}  // namespace

void on_part_offer(Lane& lane, const ashlar_am& am) {
  Unpaired& unpaired = lane.p2p->unpaired;
  const match::Key key = key_of(am);
  PartOffer offer;
  std::memcpy(&offer, am.data, sizeof offer);
  std::unique_ptr<SentSignature> sent_signature = lane.p2p->check ? lane.p2p->check->take(am.peer) : nullptr;
  if (auto* const r = static_cast<PartRecv*>(unpaired.receives.find(key))) {
    if (r->freed) return forget(unpaired.receives, *r);
    unpaired.receives.remove(*r);
    const Status paired = pair_up(lane, *r, am.peer, low_word(am.h1), offer, std::move(sent_signature));
    if (!paired.ok()) {
      r->broken = paired;
      if (r->active()) r->finish(paired);
    }
    return;
  }
  if (!keep_offer(*lane.p2p, key, am.peer, low_word(am.h1), offer, std::move(sent_signature))) refuse(lane, am, offer);
}

namespace {

/// How much of the message is stored.
std::uint64_t room_of(const PartRecv& r) { return r.refused ? 0 : static_cast<std::uint64_t>(r.size); }

/// The bytes [first, last) of the message are in their place, as far as there is room for them.
void count_in(PartRecv& r, std::uint64_t first, std::uint64_t last) {
  last = std::min(last, static_cast<std::uint64_t>(r.size));
  for (std::uint64_t at = first; at < last;) {
    const std::uint64_t partition = at / r.partition_bytes;
    const std::uint64_t stop = std::min(last, (partition + 1) * r.partition_bytes);
    r.missing[partition] -= stop - at;
    at = stop;
  }
}

/// One read. OK: done, PENDING: on its way, AGAIN: no room, else it failed.
ashlar_result read_next(PartRecv& r, PartRecv::Lent& lent, std::uint64_t end) {
  const std::uint64_t left = std::min(end - lent.next, kLongestRead);
  iovec run{static_cast<std::byte*>(r.data.data) + lent.next, left};
  if (!r.data.dense()) {
    if (datatype::runs(r.data, lent.next, 1, &run) == 0) return -MPI_ERR_INTERN;
    run.iov_len = std::min<std::size_t>(run.iov_len, left);
  }
  ashlar_endpoint* const endpoint = r.link->endpoint;
  r.reader.asked = run.iov_len;
  const ashlar_result result = endpoint->ops->get(endpoint, run.iov_base, &lent.key, lent.next, run.iov_len, &r.reader);
  if (result == ASHLAR_PENDING) return result;
  if (result == ASHLAR_OK) {
    count_in(r, lent.next, lent.next + run.iov_len);
    lent.next += run.iov_len;
  }
  r.reader.asked = 0;
  return result;
}

/// Answers the sender what became of the oldest piece that it lent.
void give_back(Lane& lane, PartRecv& r, Id word) ASHLAR_REQUIRES(lane.lock) {
  const PartRecv::Lent& lent = r.lent.front();
  send_control(lane, *r.link, word, pair_word(r.remote, 0), word == kPartRead ? lent.first : lent.next);
  r.received += (word == kPartRead ? lent.last : lent.next) - lent.first;
  (word == kPartRead ? lane.p2p->counters.single_copies : lane.p2p->counters.single_copy_failures).add();
  r.lent.pop_front();
}

void read_on(Lane& lane, PartRecv& r) ASHLAR_REQUIRES(lane.lock) {
  while (!r.lent.empty()) {
    PartRecv::Lent& lent = r.lent.front();
    const std::uint64_t end = std::min(lent.last, room_of(r));
    ashlar_result result = ASHLAR_OK;
    while (lent.next < end && result == ASHLAR_OK) result = read_next(r, lent, end);
    if (result == ASHLAR_PENDING) return progress::raise_armed(lane);
    if (result == ASHLAR_AGAIN) return progress::enqueue(lane, *r.link, r.reader, /*bulk=*/true);
    give_back(lane, r, result == ASHLAR_OK ? kPartRead : kPartUnread);
  }
  if (r.received == r.coming) end_round(r);
}

void on_read(ashlar_completion* self, ashlar_result result) ASHLAR_NO_THREAD_SAFETY {
  auto& reader = *static_cast<PartRecv::Reader*>(self);
  PartRecv& r = *reader.request;
  PartRecv::Lent& lent = r.lent.front();
  const std::uint64_t asked = reader.asked;
  reader.asked = 0;
  const bool failed = r.link->peer->failed.load(std::memory_order_relaxed);
  if (result >= 0) {
    count_in(r, lent.next, lent.next + asked);
    lent.next += asked;
  } else if (!failed) {
    give_back(r.lane(), r, kPartUnread);
  }
  if (!failed) return read_on(r.lane(), r);
  // The lane may have ended everything else of that peer already: this was what the request still waited for.
  r.lent.clear();
  r.settle();
  r.finish(fail_gone(r.lane(), r, r.source, r.link->peer->id));
}

ashlar_result push_read(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  read_on(*link.lane, *static_cast<PartRecv::Reader&>(work).request);
  return ASHLAR_OK;  // when there is still no room it has queued itself again
}

void nothing_to_abandon(Pending&, Link&) {}  // the request ends through Link::active

}  // namespace

void on_part_data(Lane&, const ashlar_am& am) {
  PartRecv* const r = named<PartRecv>(high_word(am.h0), kPartRecvOps);
  if (r == nullptr) return;
  const std::uint64_t room = room_of(*r);
  if (am.h1 < room) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(am.length, room - am.h1));
    if (r->data.dense()) {
      std::memcpy(static_cast<std::byte*>(r->data.data) + am.h1, am.data, length);
    } else {
      datatype::unpack(r->data, am.h1, am.data, length);
    }
    count_in(*r, am.h1, am.h1 + length);
  }
  r->received += am.length;
  if (r->received == r->coming) end_round(*r);
}

void on_part_ready(Lane& lane, const ashlar_am& am) {
  PartRecv* const r = named<PartRecv>(high_word(am.h0), kPartRecvOps);
  if (r == nullptr) return;
  PartReady said;
  std::memcpy(&said, am.data, sizeof said);
  const bool readable = (r->link->endpoint->capabilities & ASHLAR_CAP_GET) != 0 && lane.p2p->config.single_copy &&
                        readable_in_runs(r->data);
  if (!readable) return send_control(lane, *r->link, kPartUnread, pair_word(r->remote, 0), am.h1);
  r->lent.push_back({.first = am.h1, .next = am.h1, .last = am.h1 + said.bytes, .key = said.key});
  if (r->lent.size() > 1) return;  // it is being read to
  about_to_use(lane, *r->link);
  r->reader.request = r;
  r->reader.done = on_read;
  r->reader.push = push_read;
  r->reader.abandon = nothing_to_abandon;
  read_on(lane, *r);
}

void drop_offers(Lane& lane, const Comm* comm) {
  const auto concerned = [comm](const match::Entry& e) { return comm == nullptr || e.key.context() == comm->context; };
  drop_kept_offers(*lane.p2p, comm);
  match::Table& receives = lane.p2p->unpaired.receives;
  receives.each([&](match::Entry& entry) {
    if (auto& r = static_cast<PartRecv&>(entry); concerned(entry) && r.freed) forget(receives, r);
  });
}

}  // namespace ashlar::p2p

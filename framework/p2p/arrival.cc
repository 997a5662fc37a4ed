#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/copy.h"
#include "framework/p2p/events.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/paired.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/traffic.h"

// Matching of arrivals and receives, and messages that come whole.
namespace ashlar::p2p {
namespace {

void release_recv(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<RecvRequest&>(request);
  LaneState& state = *r.lane().p2p;
  if (r.call == Procedure::kIsendrecv) [[unlikely]]
    take_status(r, *r.gate);
  state.receives.put(&r);
}

Status start_recv(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<RecvRequest&>(request);
  r.outcome = Status{};
  r.flags &= static_cast<std::uint8_t>(~Request::kCancelled);
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  if (r.key.source() == MPI_PROC_NULL) {
    r.source = MPI_PROC_NULL;
    r.finish(Status{});
    return {};
  }
  r.received = 0;
  Lane& lane = r.lane();
  begin_nonblocking(lane, *lane.p2p, r);
  return {};
}

Status cancel_recv(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<RecvRequest&>(request);
  LaneState& state = *r.lane().p2p;
  if (NativeMatching::has(r)) {
    state.native->cancel(r);
    return {};
  }
  if (!r.filed()) return {};  // matched already: it completes with its message
  if (state.posts.committed(r)) return {};
  state.posted.remove(r);
  state.counters.cancelled.add();
  r.flags |= Request::kCancelled;
  r.bytes = 0;
  r.finish(Status{});
  return {};
}

void describe_recv(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const RecvRequest&>(request);
  char source[32] = "any rank";
  char tag[32] = "any tag";
  if (r.key.source() != MPI_ANY_SOURCE) std::snprintf(source, sizeof source, "rank %d", r.key.source());
  if (r.key.tag != MPI_ANY_TAG) std::snprintf(tag, sizeof tag, "tag %d", r.key.tag);
  std::snprintf(out, room, "%s from %s %s on '%s'%s", name_of(r.call), source, tag, r.comm->name.c_str(),
                r.filed() || NativeMatching::has(r) ? "" : ": matched, its data is on the way");
}

bool peer_of_recv_failed(Request& request, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<RecvRequest&>(request);
  LaneState& state = *r.lane().p2p;
  if (r.pull != nullptr && r.pull->asked != 0) return false;
  if (NativeMatching::has(r)) {
    state.native->end(r, outcome);
    return false;
  }
  if (r.filed()) {
    r.source = r.key.source();
    state.posted.remove(r);
  }
  end_receive(state, r, outcome);
  return true;
}

/// What becomes of a receive by the size of the whole message `am`, and by what its sender called.
inline Status size_outcome(RecvRequest& r, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  const auto bytes = static_cast<MPI_Count>(am.length);
  Status outcome;
  if (r.collective) {
    const CallSignature mine = r.called();
    const CallSignature theirs{am.id == kEager ? low_word(am.h1) : 0};
    if (bytes != r.size || (theirs.known() && mine.known() && theirs.value != mine.brief())) [[unlikely]]
      outcome = check_collective(r, mine, theirs, true, am.length);
  } else if (bytes > r.size) [[unlikely]] {
    outcome = wrong_size(r, am.length);
  }
  return outcome;
}

inline void land(RecvRequest& r, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  auto bytes = static_cast<MPI_Count>(am.length);
  const Status outcome = size_outcome(r, am);
  if (bytes > r.size) [[unlikely]]
    bytes = r.size;
  if (r.data.dense()) [[likely]] {
    copy(r.data.data, am.data, static_cast<std::size_t>(bytes));
  } else {
    datatype::unpack(r.data, 0, am.data, static_cast<std::size_t>(bytes));
  }
  r.bytes = bytes;
  r.finish(outcome);
}

// Above this much kept from one peer, or from all of them, the sender has to ask; half of it, and it need not any more.
void count_kept(Lane& lane, LaneState& state, const Arrival& arrival) ASHLAR_REQUIRES(lane.lock) {
  Counters& counters = state.counters;
  counters.unexpected.raise();
  counters.unexpected_bytes.raise(arrival.weight());
  counters.unexpected_total.add();
  if (event::heard(message_unexpected)) [[unlikely]]
    event::raise(message_unexpected, nullptr,
                 {arrival.key.context(), static_cast<std::uint64_t>(arrival.key.source()),
                  static_cast<std::uint64_t>(arrival.key.tag), arrival.am.length});

  Link* link = progress::link_of(lane, arrival.am.peer);
  if (link == nullptr) return;
  link->unexpected_bytes += arrival.weight();
  const bool by_all =
      state.process.unexpected_bytes.load(std::memory_order_relaxed) > state.config.unexpected_total_limit;
  if ((link->unexpected_bytes <= state.config.unexpected_limit && !by_all) || link->throttles) return;
  // To this process itself there is nothing to gain: the memory is its own, and a blocking send would wait for ever.
  if (link->is_self || !open_link(lane, arrival.am.peer, &link).ok()) return;
  link->throttles = true;
  counters.throttles.add();
  if (event::heard(link_throttled)) [[unlikely]]
    event::raise(link_throttled, nullptr,
                 {arrival.am.peer, link->unexpected_bytes,
                  by_all ? state.config.unexpected_total_limit : state.config.unexpected_limit, by_all ? 1u : 0u});
  send_control(lane, *link, kThrottle, by_all ? state.config.unexpected_total_limit : state.config.unexpected_limit,
               by_all ? 1 : 0);
  if (link->warned) return;
  link->warned = true;
  ASHLAR_LOG(warn, "p2p",
             "rank %d (process %u) has sent %llu bytes in %llu messages that no receive has asked for, the last with "
             "tag %d; it will wait for receives from now on (p2p.%s)",
             arrival.key.source(), arrival.am.peer, static_cast<unsigned long long>(link->unexpected_bytes),
             static_cast<unsigned long long>(counters.unexpected.now), arrival.key.tag,
             by_all ? "unexpected_total_limit: with what others have sent" : "unexpected_limit");
}

/// Ends a receive whose only possible sender is gone.
[[gnu::cold]] bool sender_gone(Lane& lane, RecvRequest& r) ASHLAR_REQUIRES(lane.lock) {
  const Rank source = r.key.source();
  if (source == MPI_ANY_SOURCE) return false;
  const PeerId id = (*r.comm->remote_group)[source];
  const Peer* const peer = lane.peers.find(id);
  if (peer == nullptr || !peer->failed.load(std::memory_order_relaxed)) return false;
  r.source = source;
  r.finish(fail_gone(lane, r, source, id));
  return true;
}

}  // namespace

const RequestOps kRecvOps = {.release = release_recv,
                             .start = start_recv,
                             .cancel = cancel_recv,
                             .describe = describe_recv,
                             .peer_failed = peer_of_recv_failed};

void end_receive(LaneState& state, RecvRequest& r, Status outcome) {
  if (r.awaits()) end_rendezvous(r, Received::kNot, outcome);
  r.settle();
  if (r.post != 0) state.posts.drop(r);
  if (r.pull != nullptr) state.pulls.put(r.pull);
  r.pull = nullptr;
  r.finish(outcome);
}

void abandon(Lane& lane, Gate& gate) {
  if (lane.p2p->native != nullptr) [[unlikely]] {
    lane.p2p->native->each([&](RecvRequest& receive) {
      if (receive.gate == &gate) static_cast<void>(cancel_recv(receive));
    });
  }
  lane.p2p->posted.table().each([&](match::Entry& entry) {
    auto& receive = static_cast<RecvRequest&>(entry);
    if (receive.gate == &gate) static_cast<void>(cancel_recv(receive));
  });
}

[[gnu::cold]] Status check_collective(RecvRequest& r, CallSignature mine, CallSignature theirs, bool brief,
                                      std::uint64_t arrived) ASHLAR_NO_THREAD_SAFETY {
  const bool same = !theirs.known() || !mine.known() || theirs.value == (brief ? mine.brief() : mine.value);
  const bool fits = arrived == static_cast<std::uint64_t>(r.size);
  if (same && fits) return {};
  const CollectiveHooks* const hooks = r.lane().p2p->collectives;
  if (hooks != nullptr)
    return hooks->mismatched(*r.comm, r.tag, r.source, same ? CallSignature{} : theirs, arrived, r.size);
  return fail(arrived > static_cast<std::uint64_t>(r.size) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "message.other_size",
              {{"peer", r.source}, {"communicator", r.comm->name}, {"bytes_got", arrived}, {"bytes_wanted", r.size}});
}

[[gnu::cold]] Status wrong_size(const Operation& r, std::uint64_t arrived) ASHLAR_NO_THREAD_SAFETY {
  r.lane().p2p->counters.truncated.add();
  return fail(MPI_ERR_TRUNCATE, "message.truncated",
              {{"bytes_got", arrived},
               {"peer", r.source},
               {"tag", r.tag},
               {"communicator", r.comm->name},
               {"bytes_wanted", r.size}});
}

namespace {

/// What is not a plain eager message.
[[gnu::noinline]] void accept_handshake(Lane& lane, RecvRequest& r, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock) {
  if (am.id == kRts) return accept_rts(lane, r, am);
  Link* link = nullptr;
  if (open_link(lane, am.peer, &link).ok()) send_control(lane, *link, kAck, pair_word(low_word(am.h1), 0), 0);
  land(r, am);
}

/// Tells tools that `r` takes `am`.
[[gnu::cold, gnu::noinline]] void tell_match(const RecvRequest& r, const ashlar_am& am, bool was_kept) {
  event::raise(message_matched, nullptr,
               {r.context(), static_cast<std::uint64_t>(r.source), static_cast<std::uint64_t>(r.tag),
                static_cast<std::uint64_t>(message_bytes(am)), was_kept ? 1u : 0u, am.id == kRts ? 1u : 0u});
}

/// The same out of line, for what does not come the short way.
[[gnu::noinline]] void accept_otherwise(Lane& lane, RecvRequest& r, const ashlar_am& am, bool was_kept)
    ASHLAR_REQUIRES(lane.lock);

/// Counts that a receive of `comm` takes `am`, if a tool counts its messages.
inline void count(const Comm& comm, const ashlar_am& am) {
  if (LaneLock::counts()) [[unlikely]]
    count_received(comm, static_cast<Rank>(low_word(am.h0)), message_bytes(am));
}

/// `r` takes the message `am`: finishes it, or starts the handshake. Inlined into the short path, where a call would
/// save registers twice; the others call accept_otherwise().
[[gnu::always_inline]] inline void accept(Lane& lane, RecvRequest& r, const ashlar_am& am, bool was_kept)
    ASHLAR_REQUIRES(lane.lock) {
  r.source = static_cast<Rank>(low_word(am.h0));
  r.tag = static_cast<Tag>(high_word(am.h1));
  if (event::heard(message_matched)) [[unlikely]]
    tell_match(r, am, was_kept);
  if (r.post != 0) [[unlikely]]
    lane.p2p->posts.matched(r, am.id == kRts);
  if (am.id == kEager) [[likely]]
    return land(r, am);
  accept_handshake(lane, r, am);
}

void accept_otherwise(Lane& lane, RecvRequest& r, const ashlar_am& am, bool was_kept) { accept(lane, r, am, was_kept); }

}  // namespace

void receive_kept(Lane& lane, LaneState& state, RecvRequest& r, Arrival& arrival) {
  if (arrival.lost) {
    r.source = arrival.key.source();
    r.tag = arrival.key.tag;
    r.finish(
        fail(MPI_ERR_NO_MEM, "message.lost", {{"bytes_got", arrival.am.length}, {"peer", r.source}, {"tag", r.tag}}));
  } else {
    count(*r.comm, arrival.am);
    if (state.check) [[unlikely]]
      accept_checked(lane, r, arrival.am, true);
    else
      accept_otherwise(lane, r, arrival.am, true);
  }
  discard(state, arrival);
}

bool taken_at_once(Lane& lane, LaneState& state, RecvRequest& r) {
  if (!state.unexpected.empty()) {
    if (match::Message* const message = state.unexpected.find(r.key)) {
      auto& arrival = static_cast<Arrival&>(*message);
      withdraw(lane, state, arrival);
      receive_kept(lane, state, r, arrival);
      return true;
    }
  }
  if (lane.failures_seen != 0 && sender_gone(lane, r)) return true;
  return state.native != nullptr && state.native->take(r);
}

void accept_native(Lane& lane, RecvRequest& r, const ashlar_am& am, bool in_place) {
  count(*r.comm, am);
  if (!in_place) return accept_otherwise(lane, r, am, false);
  r.source = static_cast<Rank>(low_word(am.h0));
  r.tag = static_cast<Tag>(high_word(am.h1));
  if (event::heard(message_matched)) [[unlikely]]
    tell_match(r, am, false);
  const Status outcome = size_outcome(r, am);
  r.bytes = std::min<MPI_Count>(am.length, r.size);
  r.finish(outcome);
}

void on_message(Lane& lane, const ashlar_am& am) {
  match::Entry* const entry = lane.p2p->posted.take(key_of(am));
  if (entry != nullptr) [[likely]] {
    accept(lane, static_cast<RecvRequest&>(*entry), am, false);
  } else {
    keep(lane, am);
  }
}

void on_message_counted(Lane& lane, const ashlar_am& am) {
  match::Entry* const entry = lane.p2p->posted.take(key_of(am));
  if (entry == nullptr) return keep(lane, am);
  auto& r = static_cast<RecvRequest&>(*entry);
  count(*r.comm, am);
  accept_otherwise(lane, r, am, false);
}

void accept_checked(Lane& lane, RecvRequest& r, const ashlar_am& am, bool was_kept) {
  r.source = static_cast<Rank>(low_word(am.h0));
  r.tag = static_cast<Tag>(high_word(am.h1));
  const Status matching = lane.p2p->check->examine(r, am);
  if (matching.ok()) return accept_otherwise(lane, r, am, was_kept);
  // Nothing is received; a sender that waits gets the answer that it was.
  Link* link = nullptr;
  if (am.id != kEager && open_link(lane, am.peer, &link).ok())
    send_control(lane, *link, am.id == kRts ? kFin : kAck, pair_word(low_word(am.h1), 0), 0);
  r.bytes = 0;
  r.finish(matching);
}

void on_message_checked(Lane& lane, const ashlar_am& am) {
  match::Entry* const entry = lane.p2p->posted.take(key_of(am));
  if (entry != nullptr) {
    auto& r = static_cast<RecvRequest&>(*entry);
    count(*r.comm, am);
    accept_checked(lane, r, am, false);
  } else {
    keep(lane, am);
  }
}

void on_signature(Lane& lane, const ashlar_am& am) { lane.p2p->check->arrived(am); }

void on_ready_message(Lane& lane, const ashlar_am& am) {
  match::Entry* const entry = lane.p2p->posted.take(key_of(am));
  if (entry != nullptr) {
    ashlar_am plain = am;
    plain.id = am.id == kRtsReady ? kRts : kEagerSync;
    auto& r = static_cast<RecvRequest&>(*entry);
    count(*r.comm, am);
    return lane.p2p->check ? accept_checked(lane, r, plain, false) : accept_otherwise(lane, r, plain, false);
  }
  Link* link = nullptr;
  if (open_link(lane, am.peer, &link).ok()) send_control(lane, *link, kUnready, pair_word(low_word(am.h1), 0), 0);
}

void on_tagged_first(Lane& lane, const ashlar_am& am) {
  Link* link = nullptr;
  if (!open_link(lane, am.peer, &link).ok() || link->native != nullptr) return;
  lane.peers.mark_failed(am.peer,
                         "it sends messages for the network to match, and here they are expected by another transport");
}

void on_tagged_nothing(Lane&, const ashlar_am&) {}

void on_cancel(Lane& lane, const ashlar_am& am) {
  LaneState& state = *lane.p2p;
  match::Message* const found = state.unexpected.find_if(key_of(am), [&am](const match::Message& message) {
    const ashlar_am& kept = static_cast<const Arrival&>(message).am;
    return kept.peer == am.peer && kept.h1 == am.h1 && kept.id != kEager;
  });
  if (found == nullptr) return;  // matched: its answer is on the way
  auto& arrival = static_cast<Arrival&>(*found);
  withdraw(lane, state, arrival);
  discard(state, arrival);
  Link* link = nullptr;
  if (open_link(lane, am.peer, &link).ok()) send_control(lane, *link, kCancelled, pair_word(low_word(am.h1), 0), 0);
}

void keep(Lane& lane, const ashlar_am& am) {
  LaneState& state = *lane.p2p;
  if (state.native != nullptr && state.native->is_astray(am)) [[unlikely]] {
    lane.peers.mark_failed(
        am.peer,
        "its messages do not come through the network that is to match them: its transport to here is another one");
    return;
  }
  Arrival* const arrival = state.arrivals.take();
  if (arrival == nullptr) {
    state.counters.lost.add();
    ASHLAR_LOG(error, "p2p", "no memory to keep a message of %u bytes from process %u: it is lost", am.length, am.peer);
    return;
  }
  arrival->am = am;
  arrival->key = key_of(am);
  void* storage = arrival->storage;
  if (am.length > Arrival::kInline) {
    storage = std::malloc(am.length);
    arrival->lost = storage == nullptr;
    if (arrival->lost) state.counters.lost.add();
  }
  if (!arrival->lost) copy(storage, am.data, am.length);
  arrival->am.data = storage;
  if (state.check) state.check->keep(arrival->am);
  state.process.unexpected_bytes.fetch_add(arrival->weight(), std::memory_order_relaxed);
  state.unexpected.add(*arrival);
  count_kept(lane, state, *arrival);
}

void withdraw(Lane& lane, LaneState& state, Arrival& arrival) {
  state.unexpected.remove(arrival);
  state.counters.unexpected.lower();
  state.counters.unexpected_bytes.lower(arrival.weight());
  Link* const link = progress::link_of(lane, arrival.am.peer);
  if (link == nullptr) return;
  link->unexpected_bytes -= arrival.weight();
  const bool few =
      state.process.unexpected_bytes.load(std::memory_order_relaxed) <= state.config.unexpected_total_limit / 2 ||
      link->unexpected_bytes == 0;
  if (link->throttles && few && link->unexpected_bytes <= state.config.unexpected_limit / 2) {
    link->throttles = false;
    send_control(lane, *link, kResume, 0, 0);
  }
}

void discard(LaneState& state, Arrival& arrival) {
  if (state.check) state.check->forget(arrival.am);
  state.process.unexpected_bytes.fetch_sub(arrival.weight(), std::memory_order_relaxed);
  if (arrival.am.length > Arrival::kInline) std::free(const_cast<void*>(arrival.am.data));
  state.arrivals.put(&arrival);
}

MPI_Count message_bytes(const ashlar_am& am) {
  if (am.id != kRts) return am.length;
  std::uint64_t bytes;
  std::memcpy(&bytes, am.data, sizeof bytes);
  return static_cast<MPI_Count>(bytes);
}

}  // namespace ashlar::p2p

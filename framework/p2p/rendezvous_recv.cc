#include <array>

#include "framework/p2p/collective.h"
#include "framework/p2p/events.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"

// The receiver's half of large messages: reading from the sender's memory, or asking for fragments.
namespace ashlar::p2p {
namespace {

void ask_for_fragments(Lane& lane, RecvRequest& r, std::uint32_t remote) ASHLAR_REQUIRES(lane.lock) {
  r.received = 0;
  send_control(lane, *r.link, kCts, pair_word(remote, r.name()), static_cast<std::uint64_t>(r.bytes));
}

void finish_recv(RecvRequest& r, Received how) {
  end_rendezvous(r, how, r.outcome);
  r.settle();
  r.finish(r.outcome);
}

void advance(Lane& lane, Pull& pull) ASHLAR_REQUIRES(lane.lock);

/// The memory could not be read after all: the sender still has the data and sends it in fragments.
void give_up_reading(Lane& lane, Pull& pull) ASHLAR_REQUIRES(lane.lock) {
  RecvRequest& r = *pull.request;
  const std::uint32_t remote = pull.remote;
  lane.p2p->counters.single_copy_failures.add();
  r.pull = nullptr;
  lane.p2p->pulls.put(&pull);
  if (r.link->peer->failed.load(std::memory_order_relaxed)) {
    r.outcome = fail_gone(lane, r, r.source, r.link->peer->id);
    finish_recv(r, Received::kNot);
    return;
  }
  ask_for_fragments(lane, r, remote);
}

void on_read(ashlar_completion* self, ashlar_result result) ASHLAR_NO_THREAD_SAFETY {
  Pull& pull = *static_cast<Pull*>(self);
  Lane& lane = pull.request->lane();
  const std::uint64_t asked = pull.asked;
  pull.asked = 0;
  if (result < 0) return give_up_reading(lane, pull);
  pull.done_bytes += asked;
  advance(lane, pull);
}

/// One read. OK: done, PENDING: on its way, AGAIN: no room, else it failed.
ashlar_result read_next(Pull& pull) {
  RecvRequest& r = *pull.request;
  const std::uint64_t left = static_cast<std::uint64_t>(r.bytes) - pull.done_bytes;
  iovec run{static_cast<std::byte*>(r.data.data) + pull.done_bytes, left};
  if (!r.data.dense()) {
    if (datatype::runs(r.data, pull.done_bytes, 1, &run) == 0) return -MPI_ERR_INTERN;
    if (run.iov_len > left) run.iov_len = left;
  }
  ashlar_endpoint* const endpoint = r.link->endpoint;
  pull.asked = run.iov_len;
  const ashlar_result result =
      endpoint->ops->get(endpoint, run.iov_base, &pull.key, pull.done_bytes, run.iov_len, &pull);
  if (result == ASHLAR_PENDING) return result;
  if (result == ASHLAR_OK) pull.done_bytes += pull.asked;
  pull.asked = 0;
  return result;
}

ashlar_result push_read(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  advance(*link.lane, static_cast<Pull&>(work));
  return ASHLAR_OK;  // when there is still no room it has queued itself again
}

void abandon_read(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  give_up_reading(*link.lane, static_cast<Pull&>(work));
}

void advance(Lane& lane, Pull& pull) {
  RecvRequest& r = *pull.request;
  about_to_use(lane, *r.link);
  while (pull.done_bytes < static_cast<std::uint64_t>(r.bytes)) {
    const ashlar_result result = read_next(pull);
    // Rounds of progress bring the rest, and the caller may leave without one.
    if (result == ASHLAR_PENDING) return progress::raise_armed(lane);
    if (result == ASHLAR_AGAIN) return progress::enqueue(lane, *r.link, pull, /*bulk=*/true);
    if (result < 0) return give_up_reading(lane, pull);
  }
  lane.p2p->counters.single_copies.add();
  lane.p2p->counters.single_copy_bytes.add(pull.done_bytes);
  send_control(lane, *r.link, kFin, pair_word(pull.remote, 0), 0);
  r.pull = nullptr;
  lane.p2p->pulls.put(&pull);
  finish_recv(r, Received::kSingleCopy);
}

// A receive with gaps is read piece by piece when the pieces are few or long; else fragments and unpack are better.
constexpr std::size_t kRunsLookedAt = 16;
constexpr std::size_t kShortestRun = 4096;

/// Of a message that its sender has written into the receive: whether it is all there.
bool written_whole(const RecvRequest& r) { return r.received == static_cast<std::uint64_t>(r.bytes); }

}  // namespace

bool readable_in_runs(const DataView& data) {
  if (data.dense()) return true;
  std::array<iovec, kRunsLookedAt> runs;
  const std::size_t count = datatype::runs(data, 0, runs.size(), runs.data());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += runs[i].iov_len;
  return count != 0 && bytes / count >= kShortestRun;
}

void accept_rts(Lane& lane, RecvRequest& r, const ashlar_am& am) {
  LaneState& state = *lane.p2p;
  const MPI_Count coming = message_bytes(am);
  const std::uint32_t remote = low_word(am.h1);
  const CallSignature mine = r.called();
  r.outcome = Status{};
  r.bytes = coming;
  if (r.collective) {
    CallSignature theirs;
    std::memcpy(&theirs.value, static_cast<const std::byte*>(am.data) + offsetof(Rts, called), sizeof theirs.value);
    r.outcome = check_collective(r, mine, theirs, false, static_cast<std::uint64_t>(coming));
  } else if (coming > r.size) [[unlikely]] {
    r.outcome = wrong_size(r, static_cast<std::uint64_t>(coming));
  }
  if (coming > r.size) [[unlikely]]
    r.bytes = r.size;
  begin_rendezvous(r);
  const bool being_written = r.post != 0;
  if (!being_written && r.received != 0 && written_whole(r)) {
    end_rendezvous(r, Received::kWritten, r.outcome);
    r.finish(r.outcome);  // the sender, which may be gone, knows that its message is here
    return;
  }
  Link* link = nullptr;
  const Status connected = open_link(lane, am.peer, &link);
  if (!connected.ok()) {
    end_rendezvous(r, Received::kNot, connected);
    end_receive(state, r, connected);
    return;
  }
  r.link = link;
  if (r.bytes == 0) {
    send_control(lane, *link, kFin, pair_word(remote, 0), 0);
    end_rendezvous(r, Received::kNothing, r.outcome);
    r.finish(r.outcome);
    return;
  }
  link->active.push_back(&r);
  const bool readable = am.length >= sizeof(Rts) && (link->endpoint->capabilities & ASHLAR_CAP_GET) != 0 &&
                        state.config.single_copy && readable_in_runs(r.data);
  r.pull = readable ? state.pulls.take(r) : nullptr;
  if (r.pull != nullptr) {
    Pull& pull = *r.pull;
    pull.push = push_read;
    pull.abandon = abandon_read;
    pull.done = on_read;
    pull.remote = remote;
    std::memcpy(&pull.key, static_cast<const std::byte*>(am.data) + offsetof(Rts, key), sizeof pull.key);
  }
  if (!being_written) go_on_reading(lane, r, remote);
}

void go_on_reading(Lane& lane, RecvRequest& r, std::uint32_t remote) {
  if (r.received != 0 && written_whole(r)) {
    if (r.pull != nullptr) lane.p2p->pulls.put(r.pull);
    r.pull = nullptr;
    return finish_recv(r, Received::kWritten);
  }
  if (r.pull == nullptr) return ask_for_fragments(lane, r, remote);
  r.pull->done_bytes = r.received;
  advance(lane, *r.pull);
}

void on_data(Lane&, const ashlar_am& am) {
  RecvRequest* const r = named<RecvRequest>(high_word(am.h0), kRecvOps);
  if (r == nullptr) return;
  if (r->data.dense()) {
    std::memcpy(static_cast<std::byte*>(r->data.data) + am.h1, am.data, am.length);
  } else {
    datatype::unpack(r->data, am.h1, am.data, am.length);
  }
  r->received += am.length;
  if (r->received >= static_cast<std::uint64_t>(r->bytes)) finish_recv(*r, Received::kFragments);
}

}  // namespace ashlar::p2p

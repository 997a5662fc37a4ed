#include "framework/progress/lane.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "framework/base/log.h"
#include "framework/progress/events.h"
#include "framework/progress/peer.h"

namespace ashlar {

Lane::Lane(unsigned lane_index, PeerTable& peer_table, const progress::Config& configuration)
    : index(lane_index), peers(peer_table), news(peer_table.news()), config(configuration) {}

Lane::~Lane() {
  if (const int fd = wake_fd.load(std::memory_order_relaxed); fd >= 0) close(fd);
}

void Lane::add_iface(ashlar_iface* iface, bool is_self, const char* name) {
  if (is_self) {
    self_iface = iface;
  } else if (iface_count < kMaxIfaces) {
    unsigned at = iface_count++;
    if (iface->ops->wake_word != nullptr && iface->ops->wake_word(iface) != nullptr) {
      at = near_count++;
      ifaces[iface_count - 1] = ifaces[at];
      iface_names[iface_count - 1] = iface_names[at];
    }
    iface_names[at] = name;
    ifaces[at] = iface;
    near_and_far = near_count != 0 && near_count != iface_count;
  }
}

namespace progress {

namespace {

// A link that never says AGAIN must not keep one round busy for ever.
constexpr unsigned kPiecesPerRound = 16;

unsigned retry(Lane& lane, Link& link) ASHLAR_REQUIRES(lane.lock) {
  unsigned events = 0;
  if (link.is_self) lane.self_busy = true;
  while (Pending* work = link.pending.pop_front()) {
    const ashlar_result result = work->push(*work, link);
    if (result == ASHLAR_AGAIN) {
      link.pending.push_front(work);
      return events;
    }
    ++events;
  }
  for (unsigned piece = 0; piece < kPiecesPerRound; ++piece) {
    Pending* const work = link.bulk.pop_front();
    if (work == nullptr) break;
    const ashlar_result result = work->push(*work, link);
    if (result == ASHLAR_AGAIN) {
      link.bulk.push_front(work);
      return events;
    }
    if (result == ASHLAR_PENDING) link.bulk.push_back(work);
    ++events;
  }
  return events;
}

// The rarer parts of a round stay out of poll(), which would save registers for them in every round.
[[gnu::noinline]] unsigned retry_all(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  unsigned events = 0;
  // A push may add links to the list, at its end; it takes none away.
  for (auto at = lane.stalled.begin(); at != lane.stalled.end();) {
    Link& link = *at;
    lane.counters.retries.add();
    events += retry(lane, link);
    ++at;
    if (link.pending.empty() && link.bulk.empty()) List<Link>::remove(&link);
  }
  return events;
}

[[gnu::noinline]] unsigned poll_self(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  lane.self_busy = false;
  if (lane.self_iface == nullptr) return 0;  // another transport carries what a process sends to itself
  const unsigned events = lane.self_iface->ops->progress(lane.self_iface);
  lane.self_busy = lane.self_iface->ops->idle(lane.self_iface) == 0;
  return events;
}

[[gnu::noinline]] unsigned run_ready(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  unsigned events = 0;
  while (Waiter* waiter = lane.ready.pop_front()) {
    waiter->run(*waiter);
    ++events;
  }
  lane.counters.resumed.add(events);
  return events;
}

[[gnu::noinline]] unsigned run_pollers(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  unsigned events = 0;
  for (auto at = lane.pollers.begin(); at != lane.pollers.end();) {
    Poller& poller = *at;
    ++at;  // a poller may take itself off, no other
    if (poller.poll(poller)) ++events;
  }
  return events;
}

/// A transport that has not noticed it itself would go on trying to reach the process.
[[gnu::cold]] void end_endpoint(Lane& lane, const Link& link) ASHLAR_REQUIRES(lane.lock) {
  if (link.endpoint == nullptr || link.iface->ops->ended == nullptr) return;
  link.iface->ops->ended(link.iface, link.endpoint, lane.peers.failure_reason(link.peer->id).c_str());
}

/// Returns how many peers have failed since the last time.
[[gnu::cold, gnu::noinline]] unsigned notice(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  lane.news_seen = __atomic_load_n(lane.news, __ATOMIC_ACQUIRE);
  unsigned failures = 0;
  while (lane.failures_seen != lane.peers.failures()) {
    const PeerId peer = lane.peers.failed_peer(lane.failures_seen++);
    ++failures;
    lane.unusual = 1;
    lane.counters.peers_failed.add();
    if (event::heard(peer_failed)) [[unlikely]]
      event::raise(peer_failed, nullptr, {peer, lane.index});
    Link* const link = link_of(lane, peer);
    if (link == nullptr) continue;
    link->budget = 0;
    end_endpoint(lane, *link);
    while (Pending* work = link->pending.pop_front()) work->abandon(*work, *link);
    while (Pending* work = link->bulk.pop_front()) work->abandon(*work, *link);
    if (lane.peer_failed) lane.peer_failed(lane, peer);
  }
  lane.peers.notify(lane);
  return failures;
}

}  // namespace

void make_ready(Waiter& waiter) ASHLAR_NO_THREAD_SAFETY { waiter.lane->ready.push_back(&waiter); }

void deliver(void* lane_context, const ashlar_am* am) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *static_cast<Lane*>(lane_context);
  lane.handlers[am->id % Lane::kMaxHandlers](lane, *am);
}

void failed(void* lane_context, std::uint32_t peer, const char* reason) {
  static_cast<Lane*>(lane_context)->peers.mark_failed(peer, reason);
}

std::uint32_t peer_of_identity(void* lane_context, const std::uint64_t job[2], std::uint32_t rank) {
  return static_cast<Lane*>(lane_context)->peers.number_of({{job[0], job[1]}, rank});
}

namespace {

// A wait that spins looks at memory in each of its rounds, which takes about 10 ns, and at networks in every second
// one; less often when nothing has come from there in the last looks. After 64 looks a message between hosts may still
// be under way (1.3 us so far); after 256 (60 us) a neighbour is the likelier sender, and a look keeps it waiting for
// 20 ns.
constexpr std::uint32_t kQuietAfter = 64, kSilentAfter = 256;  // looks in vain
constexpr std::uint32_t kFarRounds = 2, kFarRoundsQuiet = 32, kFarRoundsSilent = 128;

std::uint32_t rounds_to_far(std::uint32_t quiet) {
  return quiet < kQuietAfter ? kFarRounds : quiet < kSilentAfter ? kFarRoundsQuiet : kFarRoundsSilent;
}

/// One round with the first `ifaces` interfaces.
[[gnu::always_inline]] inline unsigned poll_first(Lane& lane, unsigned ifaces) ASHLAR_REQUIRES(lane.lock) {
  unsigned events = 0;
  for (unsigned i = 0; i < ifaces; ++i) {
    ashlar_iface* const iface = lane.ifaces[i];
    events += iface->ops->progress(iface);
  }
  if (lane.self_busy) [[unlikely]]
    events += poll_self(lane);
  if (!lane.stalled.empty()) [[unlikely]]
    events += retry_all(lane);
  if (!lane.ready.empty()) [[unlikely]]
    events += run_ready(lane);
  if (!lane.pollers.empty()) events += run_pollers(lane);
  if (lane.news_seen != __atomic_load_n(lane.news, __ATOMIC_ACQUIRE)) [[unlikely]]
    events += notice(lane);
  if (events != 0) raise(lane);
  return events;
}

}  // namespace

unsigned poll(Lane& lane) { return poll_first(lane, lane.iface_count); }

unsigned poll_in_wait(Lane& lane) {
  if (++lane.near_rounds < rounds_to_far(lane.far_quiet)) return poll_first(lane, lane.near_count);
  lane.near_rounds = 0;
  unsigned far = 0;
  for (unsigned i = lane.near_count; i < lane.iface_count; ++i) far += lane.ifaces[i]->ops->progress(lane.ifaces[i]);
  lane.far_quiet = far != 0 ? 0 : lane.far_quiet + 1;
  if (far != 0) raise(lane);
  return far + poll_first(lane, lane.near_count);
}

void raise(Lane& lane) {
  if (lane.sleepers != 0) [[unlikely]]
    raise_from_outside(lane);
}

void raise_armed(Lane& lane) {
  if (lane.armed != 0) [[unlikely]]
    raise_from_outside(lane);
}

void end_attendance(Lane& lane) {
  syscall(SYS_futex, &lane.attended, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void raise_from_outside(Lane& lane) {
  __atomic_fetch_add(&lane.wake_word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &lane.wake_word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if (const int fd = lane.wake_fd.load(std::memory_order_seq_cst); fd >= 0) eventfd_write(fd, 1);
}

}  // namespace progress
}  // namespace ashlar

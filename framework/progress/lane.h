#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/lane_lock.h"
#include "framework/base/list.h"
#include "framework/base/thread_annotations.h"
#include "framework/base/types.h"
#include "framework/plugin/transport.h"
#include "framework/progress/config.h"
#include "framework/progress/contention.h"
#include "framework/progress/gate.h"
#include "framework/progress/pvars.h"

namespace ashlar {

struct Lane;
struct Link;
class PeerTable;
namespace plugin {
class Records;
}
namespace progress {
class Waiting;
}

namespace p2p {
struct LaneState;  // matching queues and request slabs; made by p2p::attach
}
namespace coll {
struct LaneCollectives;  // what the collectives of a lane share; made by coll::Engine::attach
}

/// Takes one kind of active message. Under the lane's lock, in the order of each peer's sends; never blocks, may send.
using AmHandler = void (*)(Lane&, const ashlar_am&);

/// An independent context of communication: its own lock, queues, request storage and transport interfaces. A
/// communicator lives on one lane; lanes share nothing on the message path.
/// The process owns its lanes; they live from init to finalize.
struct Lane {
  static constexpr std::size_t kMaxIfaces = 8;
  static constexpr std::size_t kMaxHandlers = 64;

  Lane(unsigned lane_index, PeerTable& peer_table, const progress::Config& configuration);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  LaneLock lock;
  const unsigned index;
  PeerTable& peers;
  p2p::LaneState* p2p ASHLAR_GUARDED_BY(lock) = nullptr;

  // --- looked at in every progress round ---
  unsigned iface_count ASHLAR_GUARDED_BY(lock) = 0;
  unsigned near_count ASHLAR_GUARDED_BY(lock) = 0;  // so many of them, the first, look at memory alone (add_iface)
  ashlar_iface* self_iface ASHLAR_GUARDED_BY(lock) = nullptr;  // progressed only while `self_busy`
  bool near_and_far ASHLAR_GUARDED_BY(lock) = false;           // there are both
  std::uint32_t near_rounds ASHLAR_GUARDED_BY(lock) = 0;       // of spinning waits, since they looked at the others
  std::uint32_t far_quiet ASHLAR_GUARDED_BY(lock) = 0;  // looks of spinning waits at the others that found nothing
  bool self_busy ASHLAR_GUARDED_BY(lock) = false;
  std::array<ashlar_iface*, kMaxIfaces> ifaces ASHLAR_GUARDED_BY(lock) = {};
  std::array<const char*, kMaxIfaces> iface_names ASHLAR_GUARDED_BY(lock) = {};  // of their components
  List<Link> stalled ASHLAR_GUARDED_BY(lock);                                    // links whose endpoint said AGAIN
  List<Waiter> ready ASHLAR_GUARDED_BY(lock);
  List<Poller> pollers ASHLAR_GUARDED_BY(lock);
  const std::uint32_t* news;                                // PeerTable::news: the only look at anything unusual
  std::uint32_t news_seen ASHLAR_GUARDED_BY(lock) = 0;      // of it
  std::uint32_t failures_seen ASHLAR_GUARDED_BY(lock) = 0;  // of PeerTable::failures
  /// Not 0: a peer has failed, or the network matches messages. What is posted looks at that first.
  std::uint32_t unusual ASHLAR_GUARDED_BY(lock) = 0;
  std::array<AmHandler, kMaxHandlers> handlers ASHLAR_GUARDED_BY(lock) = {};
  /// Told of each peer that failed, once per lane; set by p2p.
  void (*peer_failed)(Lane&, PeerId) ASHLAR_GUARDED_BY(lock) = nullptr;

  // --- waiting ---
  progress::Config config;                             // constant once traffic starts
  std::uint32_t sleepers ASHLAR_GUARDED_BY(lock) = 0;  // threads asleep in progress::wait
  std::uint32_t armed ASHLAR_GUARDED_BY(lock) = 0;     // these, and background threads: transports are armed
  unsigned armed_ifaces ASHLAR_GUARDED_BY(lock) = 0;   // so many of `ifaces` are to be disarmed by the last of them
  std::uint32_t wake_word = 0;                         // futex: raised when a thread progresses for sleeping ones
  std::atomic<int> wake_fd{-1};  // eventfd, raised as well: made by the first sleep that is one for descriptors
  /// Called by waits, and by calls that look in vain, at most every `review_every` ns (0: never) and when `review_by`
  /// has come.
  void (*review)(Lane&) ASHLAR_GUARDED_BY(lock) = nullptr;
  std::uint64_t review_every ASHLAR_GUARDED_BY(lock) = 0;
  std::uint64_t next_review ASHLAR_GUARDED_BY(lock) = 0;
  std::uint64_t review_by ASHLAR_GUARDED_BY(lock) = 0;      // a review is due then, 0: none; ends sleeps
  List<progress::Waiting> waits ASHLAR_GUARDED_BY(lock);    // those that left their spin stage, oldest first
  progress::Contention contention ASHLAR_GUARDED_BY(lock);  // other processes on this core: no yields for a while
  std::uint64_t look_again ASHLAR_GUARDED_BY(lock) = 0;     // a poller has something to do then, 0: none; ends sleeps
  /// Threads inside wait() on this lane, counted only with threads: others leave the lane to them. The futex on which
  /// the background thread stays away.
  std::atomic<std::uint32_t> attended{0};
  /// Those of them that have slept with progress.thread: they wake the background thread when their wait ends, so it
  /// need not look meanwhile. A hint, ordered with nothing.
  std::atomic<std::uint32_t> attended_asleep{0};
  std::uint32_t uses_seen ASHLAR_GUARDED_BY(lock) = 0;    // of the lock, by threads that sleep for the lane as well
  std::uint32_t looks ASHLAR_GUARDED_BY(lock) = 0;        // progress::look: what they weigh since it last went further
  std::uint32_t empty_looks ASHLAR_GUARDED_BY(lock) = 0;  // in a row
  Lane* next_lane = nullptr;  // ring of the process's lanes, nullptr for a single one: a wait progresses all of them
  progress::Counters counters ASHLAR_GUARDED_BY(lock);
  plugin::Records* records ASHLAR_GUARDED_BY(lock) = nullptr;  // may be null: decisions are not kept
  coll::LaneCollectives* coll ASHLAR_GUARDED_BY(lock) = nullptr;
  /// Waits that something beside MPI's messages ends, which wakes no lane: sleeps are short while there are such.
  std::uint32_t waits_beside ASHLAR_GUARDED_BY(lock) = 0;

  std::uint64_t spin_rounds() const { return config.oversubscribed ? config.spin_oversubscribed : config.spin; }
  std::uint64_t sleep_after() const {
    return config.oversubscribed ? config.sleep_after_oversubscribed : config.sleep_after;
  }

  /// Adds an interface of the component `name`; `is_self` when it reaches only this process. One that is woken by a
  /// word in memory looks there for arrivals, and is looked at more often than others. Set-up path.
  void add_iface(ashlar_iface* iface, bool is_self, const char* name = "") ASHLAR_REQUIRES(lock);
};

/// The lane of a communicator by its context, of either kind, in a process that has `lanes` of them. The predefined
/// communicators are on the first.
inline unsigned lane_of(std::uint32_t context, unsigned lanes) { return context < 4 ? 0 : (context >> 1) % lanes; }

namespace progress {

/// The functions of ashlar_transport_context for a context whose lane_context is a Lane*.
void deliver(void* lane_context, const ashlar_am* am);
void failed(void* lane_context, std::uint32_t peer, const char* reason);
std::uint32_t peer_of_identity(void* lane_context, const std::uint64_t job[2], std::uint32_t rank);

/// One round: every interface, what waits for room, ready waiters, pollers. Returns how many events it handled.
/// Never blocks. Not to be called from a handler, a completion or a waiter's own run (waiters may wait).
unsigned poll(Lane& lane) ASHLAR_REQUIRES(lane.lock);
/// The same in a round of a wait that spins on a lane that has both memory and networks to look at (near_and_far):
/// networks are looked at in some rounds only. They are counted from
/// one wait to the next: a process whose waits are all short looks at its networks as well.
unsigned poll_in_wait(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// The same, and one round of each other lane of the process that is in no other thread's hands.
unsigned poll_all(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// A round for a call that only looks and returns (MPI_Test and its like): calling it again and again makes progress on
/// everything the process has going, on the other lanes too, and lets others have the core when nothing comes.
/// Gives up the lock for that, now and then.
unsigned look(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// Wakes the threads that sleep in wait() on this lane: something they may wait for happened outside a round.
void raise(Lane& lane) ASHLAR_REQUIRES(lane.lock);
/// The same without the lock.
void raise_from_outside(Lane& lane);
/// Wakes background threads as well: there is work for the lane that the caller leaves to others.
void raise_armed(Lane& lane) ASHLAR_REQUIRES(lane.lock);
/// Wakes the background thread that stays away from an attended lane.
void end_attendance(Lane& lane);

}  // namespace progress
}  // namespace ashlar

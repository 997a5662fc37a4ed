#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/list.h"
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/comm.h"
#include "framework/plugin/transport.h"
#include "framework/progress/lane.h"

namespace ashlar {

struct Link;
namespace p2p {
struct NativeLink;
}

/// An active request that waits for something from one peer.
struct ActiveHook : ListHook {};

/// A piece of work that the endpoint had no room for. Repeated in order, per link.
struct Pending : ListHook {
  /// Called when it is off the list. AGAIN: no room, goes back to the front. PENDING: one piece has left and there are
  /// more, goes to the back (bulk only). Anything else: done with, and `this` may be gone.
  ashlar_result (*push)(Pending&, Link&) = nullptr;
  /// The peer is gone: finish it or drop it. Off the list.
  void (*abandon)(Pending&, Link&) = nullptr;
};

/// The way to one peer on one lane: the endpoint, what waits for room in it, and point-to-point's bookkeeping.
/// Guarded by the lane's lock.
struct Link : ListHook {  // hook: Lane::stalled
  // --- short path ---
  /// Messages that may still be given to the endpoint before the slow path takes a look; at most 0 while the link is
  /// not connected, stalled, throttled, failed, or leads to this process itself. So one counter is all that the
  /// short path checks, and a process that only sends still makes progress now and then.
  std::int32_t budget = 0;
  bool is_self = false;
  bool throttled = false;         // by the peer: too much of ours lies unreceived there, so every message asks first
  bool throttled_by_all = false;  // because of what all processes together have sent there
  bool throttles = false;         // this process throttles the peer
  bool warned = false;            // of that
  std::uint32_t eager_limit = 0;  // largest message sent without a handshake; 0: not yet decided
  std::uint32_t answers = 0;      // that the peer gave to RTS
  ashlar_endpoint* endpoint = nullptr;  // nullptr until first use
  ashlar_iface* iface = nullptr;        // of the endpoint
  Peer* peer = nullptr;
  Lane* lane = nullptr;
  p2p::NativeLink* native = nullptr;  // the network matches its messages (p2p/native.h)

  std::uint64_t unexpected_bytes = 0;  // of this peer, arrived and not yet received
  std::uint64_t throttle_limit = 0;    // bytes that the peer keeps at most, while `throttled`
  List<Pending> pending;               // in the order of the calls: nothing may pass it
  List<Pending> bulk;                  // fragments of large messages, in turn; only while `pending` is empty
  List<ActiveHook> active;             // requests that wait for this peer, for failure and description

  bool stalled() const { return linked(); }
};

/// A process this one may talk to. Made on first use. Of this job, it lives until finalize; of another one, until no
/// communicator has it any more (PeerTable::forget).
struct Peer {
  explicit Peer(PeerId number) : id(number) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const PeerId id;
  std::atomic<bool> failed{false};
  std::atomic<bool> one_lane{false};  // it has only the first of our lanes; known once a later one has connected
  /// Of another job: it needs nothing of this process any more, and may end without being missed.
  std::atomic<bool> said_goodbye{false};
  std::atomic<bool> told_goodbye{false};  // this process has said the same to it, or need not
  Link first;                             // on lane 0, beside the peer: one load less
  std::unique_ptr<Link[]> others;         // on lanes 1...

  Link& link(const Lane& lane) {
    if (lane.index == 0) [[likely]]
      return first;
    return others[lane.index - 1];
  }
};

/// Every peer of this process, and how to reach a new one. Any thread, except where said.
class PeerTable {
 public:
  /// Makes the endpoint to `peer` on `lane`, trying transports in turn; the text says why none works. Set by the
  /// runtime before traffic. Called under the lane's lock, on first use.
  using Connector = Status (*)(void* context, Lane& lane, PeerId peer, ashlar_endpoint** endpoint,
                               ashlar_iface** iface);

  PeerTable(const Identity& self, std::uint32_t job_size, unsigned lanes);
  ~PeerTable();
  void set_connector(Connector connector, void* context) {
    connect_ = connector;
    context_ = context;
  }

  PeerId self() const { return self_.rank; }
  const Identity& own_identity() const { return self_; }
  std::uint32_t job_size() const { return static_cast<std::uint32_t>(table_.size()); }
  unsigned lane_count() const { return lanes_; }
  /// The peer's record, made when missing; nullptr: no memory.
  Peer* get(PeerId id);
  /// The peer's record, or nullptr when nothing was ever sent to or received from it.
  Peer* find(PeerId id);
  /// Calls visit(Peer&) for every peer that has a record.
  template <class Visit>
  void each(Visit visit) {
    for (auto& entry : table_)
      if (Peer* const peer = entry.load(std::memory_order_acquire)) visit(*peer);
    if (knows_others())
      for (Peer* const peer : other_peers()) visit(*peer);
  }

  // --- processes of other jobs: known from a connection until the last communicator with them is gone ---------------
  bool is_of_other_job(PeerId id) const { return id >= table_.size(); }
  bool knows_others() const { return others_known_.load(std::memory_order_acquire) != 0; }
  /// The number of a process; kNobody: it is not known (any more).
  PeerId number_of(const Identity& who);
  /// The number of a process, which becomes known if it is not.
  PeerId add(const Identity& who);
  /// Those that a communicator has, and whether one has this process.
  std::vector<PeerId> held();
  bool is_held(PeerId id);
  /// kNobody's, and that of a number that was given back, is all zero.
  Identity identity_of(PeerId id);
  /// One communicator more, or less, has the process. Returns how many have it now.
  std::uint32_t hold(PeerId id);
  std::uint32_t let_go(PeerId id);
  /// The number means nothing any more, and the peer's record is gone. False: a communicator has it again.
  bool forget(PeerId id);
  /// Marks a peer as gone. Each lane finds out in its next progress round.
  void mark_failed(PeerId id, const char* reason);
  std::string failure_reason(PeerId id);
  std::uint32_t failures() const { return failures_.load(std::memory_order_acquire); }
  /// The word that every progress round looks at: it changes when a peer has failed, or when a report of what this
  /// process is doing is requested. Before lanes are made, `shared` may become that word, which others then change too.
  const std::uint32_t* news() const { return news_; }
  void share_news(std::uint32_t* shared) { news_ = shared; }
  /// Called when the word has changed, and when a wait turns out to be a long one. Under the lane's lock.
  using Listener = void (*)(void* context, Lane& lane);
  void set_listener(Listener listener, void* context) {
    listener_ = listener;
    listener_context_ = context;
  }
  void notify(Lane& lane) {
    if (listener_ != nullptr) listener_(listener_context_, lane);
  }
  /// Calls the connector.
  Status connect(Lane& lane, PeerId peer, ashlar_endpoint** endpoint, ashlar_iface** iface);
  /// The peer of the `index`-th failure.
  PeerId failed_peer(std::uint32_t index);

 private:
  struct Other {
    Identity who;
    std::uint32_t holders = 0;
    std::unique_ptr<Peer> peer;  // made on first use
  };
  std::unique_ptr<Peer> make(PeerId id) const;
  std::vector<Peer*> other_peers();

  const Identity self_;
  const unsigned lanes_;
  Connector connect_ = nullptr;
  void* context_ = nullptr;
  std::mutex mutex_;
  std::vector<std::atomic<Peer*>> table_;  // of this job, by rank
  // Numbers are never used twice: a group that outlives its processes must not come to mean others.
  std::map<PeerId, Other> others_;      // guarded by mutex_, as the next two
  std::map<Identity, PeerId> numbers_;  // of others_
  PeerId next_number_;
  std::atomic<std::size_t> others_known_{0};
  std::atomic<std::uint32_t> failures_{0};
  std::uint32_t own_news_ = 0;
  std::uint32_t* news_ = &own_news_;
  Listener listener_ = nullptr;
  void* listener_context_ = nullptr;
  std::vector<std::pair<PeerId, std::string>> reasons_;
};

namespace progress {

/// The peer behind `rank` of `comm` (remote group of an intercommunicator), filling comm.peers on first use.
Peer* peer_of(Comm& comm, Rank rank);
/// The link to `peer` on `lane`, connected or not; nullptr: no memory, or no such peer.
Link* link_of(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);
/// The link to `peer` on `lane`, connected. Fails with the connector's reason, or MPI_ERR_PROC_ABORTED.
Status connect(Lane& lane, Peer& peer, Link** out) ASHLAR_REQUIRES(lane.lock);
/// The connected endpoint to `rank` of `comm` on its lane.
Status endpoint(Comm& comm, Rank rank, ashlar_endpoint** out) ASHLAR_REQUIRES(comm.lane->lock);

/// Queues `work` behind everything that waits on this link (bulk: beside other bulk work); it is pushed in the next
/// progress round.
void enqueue(Lane& lane, Link& link, Pending& work, bool bulk = false) ASHLAR_REQUIRES(lane.lock);

}  // namespace progress
}  // namespace ashlar

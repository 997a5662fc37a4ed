#include "framework/progress/peer.h"

#include <new>

#include "framework/base/failure.h"

namespace ashlar {

PeerTable::PeerTable(const Identity& self, std::uint32_t job_size, unsigned lanes)
    : self_(self), lanes_(lanes), table_(job_size), next_number_(job_size) {}

PeerTable::~PeerTable() {
  for (auto& entry : table_) delete entry.load(std::memory_order_relaxed);
}

std::unique_ptr<Peer> PeerTable::make(PeerId id) const {
  std::unique_ptr<Peer> peer(new (std::nothrow) Peer(id));
  if (peer == nullptr || lanes_ == 1) return peer;
  peer->others.reset(new (std::nothrow) Link[lanes_ - 1]);
  if (!peer->others) peer.reset();
  return peer;
}

std::vector<Peer*> PeerTable::other_peers() {
  std::vector<Peer*> peers;
  const std::lock_guard guard(mutex_);
  for (auto& [id, other] : others_)
    if (other.peer) peers.push_back(other.peer.get());
  return peers;
}

Peer* PeerTable::find(PeerId id) {
  if (id < table_.size()) [[likely]]
    return table_[id].load(std::memory_order_acquire);
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  return other == others_.end() ? nullptr : other->second.peer.get();
}

Peer* PeerTable::get(PeerId id) {
  if (Peer* known = find(id)) [[likely]]
    return known;
  const std::lock_guard guard(mutex_);
  if (id >= table_.size()) {
    const auto other = others_.find(id);
    if (other == others_.end()) return nullptr;
    if (!other->second.peer) other->second.peer = make(id);
    return other->second.peer.get();
  }
  Peer* peer = table_[id].load(std::memory_order_relaxed);
  if (peer != nullptr) return peer;
  peer = make(id).release();
  table_[id].store(peer, std::memory_order_release);
  return peer;
}

PeerId PeerTable::number_of(const Identity& who) {
  if (who.same_job(self_)) return who.rank < table_.size() ? who.rank : kNobody;
  const std::lock_guard guard(mutex_);
  const auto known = numbers_.find(who);
  return known == numbers_.end() ? kNobody : known->second;
}

PeerId PeerTable::add(const Identity& who) {
  if (who.same_job(self_)) return who.rank < table_.size() ? who.rank : kNobody;
  const std::lock_guard guard(mutex_);
  if (const auto known = numbers_.find(who); known != numbers_.end()) {
    // It may have taken its leave while this process had it still; now it is back.
    if (Peer* const peer = others_[known->second].peer.get()) {
      peer->said_goodbye.store(false, std::memory_order_relaxed);
      peer->told_goodbye.store(false, std::memory_order_relaxed);
    }
    return known->second;
  }
  if (next_number_ >= kNobody - 1) return kNobody;
  const PeerId id = next_number_++;
  numbers_[who] = id;
  others_[id].who = who;
  others_known_.store(others_.size(), std::memory_order_release);
  return id;
}

Identity PeerTable::identity_of(PeerId id) {
  Identity who = self_;
  who.rank = id;
  if (id < table_.size()) return who;
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  return other == others_.end() ? Identity{} : other->second.who;
}

std::uint32_t PeerTable::hold(PeerId id) {
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  return other == others_.end() ? 0 : ++other->second.holders;
}

std::uint32_t PeerTable::let_go(PeerId id) {
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  return other == others_.end() || other->second.holders == 0 ? 0 : --other->second.holders;
}

std::vector<PeerId> PeerTable::held() {
  std::vector<PeerId> all;
  const std::lock_guard guard(mutex_);
  for (const auto& [id, other] : others_)
    if (other.holders != 0) all.push_back(id);
  return all;
}

bool PeerTable::is_held(PeerId id) {
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  return other != others_.end() && other->second.holders != 0;
}

bool PeerTable::forget(PeerId id) {
  const std::lock_guard guard(mutex_);
  const auto other = others_.find(id);
  if (other == others_.end()) return true;
  if (other->second.holders != 0) return false;
  numbers_.erase(other->second.who);
  others_.erase(other);
  others_known_.store(others_.size(), std::memory_order_release);
  return true;
}

void PeerTable::mark_failed(PeerId id, const char* reason) {
  Peer* const peer = get(id);
  if (peer == nullptr || peer->said_goodbye.load(std::memory_order_acquire)) return;
  const std::lock_guard guard(mutex_);
  if (peer->failed.exchange(true, std::memory_order_acq_rel)) return;
  reasons_.emplace_back(id, reason ? reason : "");
  failures_.fetch_add(1, std::memory_order_release);
  __atomic_fetch_add(news_, 1, __ATOMIC_RELEASE);
}

PeerId PeerTable::failed_peer(std::uint32_t index) {
  const std::lock_guard guard(mutex_);
  return reasons_[index].first;
}

std::string PeerTable::failure_reason(PeerId id) {
  const std::lock_guard guard(mutex_);
  for (const auto& [peer, reason] : reasons_)
    if (peer == id) return reason;
  return {};
}

Status PeerTable::connect(Lane& lane, PeerId peer, ashlar_endpoint** endpoint, ashlar_iface** iface) {
  if (connect_ == nullptr)
    return fail(MPI_ERR_INTERN, "internal.state",
                {{"what", "no transport was set up to reach a peer"}, {"peer", peer}});
  return connect_(context_, lane, peer, endpoint, iface);
}

namespace progress {

Peer* peer_of(Comm& comm, Rank rank) {
  // Communicators of equal groups share the table, and may be on different lanes.
  Peer* entry = __atomic_load_n(&comm.peers[rank], __ATOMIC_ACQUIRE);
  if (entry == nullptr) [[unlikely]] {
    entry = comm.lane->peers.get((*comm.remote_group)[rank]);
    __atomic_store_n(&comm.peers[rank], entry, __ATOMIC_RELEASE);
  }
  return entry;
}

Link* link_of(Lane& lane, PeerId id) {
  Peer* const peer = lane.peers.get(id);
  if (peer == nullptr) return nullptr;
  Link& link = peer->link(lane);
  link.lane = &lane;
  link.peer = peer;
  return &link;
}

Status connect(Lane& lane, Peer& peer, Link** out) {
  Link& link = peer.link(lane);
  if (peer.failed.load(std::memory_order_relaxed)) [[unlikely]] {
    const std::string reason = lane.peers.failure_reason(peer.id);
    return fail(MPI_ERR_PROC_ABORTED, "peer.process_failed", {{"peer", peer.id}, {"lower", reason}});
  }
  if (link.endpoint == nullptr) [[unlikely]] {
    link.lane = &lane;
    link.peer = &peer;
    ASHLAR_TRY(lane.peers.connect(lane, peer.id, &link.endpoint, &link.iface));
    link.is_self = peer.id == lane.peers.self();
  }
  *out = &link;
  return {};
}

Status endpoint(Comm& comm, Rank rank, ashlar_endpoint** out) {
  Peer* const peer = peer_of(comm, rank);
  if (peer == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the record of a peer"}, {"peer", rank}});
  Link* link = nullptr;
  ASHLAR_TRY(connect(*comm.lane, *peer, &link));
  *out = link->endpoint;
  return {};
}

void enqueue(Lane& lane, Link& link, Pending& work, bool bulk) {
  (bulk ? link.bulk : link.pending).push_back(&work);
  link.budget = 0;
  if (link.stalled()) return;
  lane.stalled.push_back(&link);
  raise_armed(lane);  // sleepers have to look again soon: room in a full ring raises no wake-up
}

}  // namespace progress
}  // namespace ashlar

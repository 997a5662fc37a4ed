#include "framework/runtime/other_jobs.h"

#include <mpi.h>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/setup.h"
#include "framework/progress/waiting.h"
#include "framework/runtime/process.h"
#include "framework/runtime/wiring.h"

namespace ashlar::runtime {

bool OtherJobs::is_of_other_job(PeerId peer) const { return process_.peers_->is_of_other_job(peer); }

bool OtherJobs::knows_others() const { return process_.peers_->knows_others(); }

Identity OtherJobs::identity_of(PeerId peer) { return process_.peers_->identity_of(peer); }

PeerId OtherJobs::number_of(const Identity& who) { return process_.peers_->number_of(who); }

std::string OtherJobs::own_card() { return process_.wiring_->own_card(); }

Status OtherJobs::introduce(const Identity& who, std::string_view card, PeerId* number) {
  *number = process_.peers_->add(who);
  if (*number == kNobody) return fail(MPI_ERR_OTHER, "comm.no_number");
  if (!is_of_other_job(*number)) return {};
  hold(*number);
  const Status taken = process_.wiring_->take_card(*number, card);
  if (!taken.ok()) let_go(*number);
  tell_launcher();
  return taken;
}

void OtherJobs::tell_launcher() {
  const ashlar_launch_ops& ops = *process_.launch->ops;
  if (ops.connected != nullptr) ops.connected(process_.launch, knows_others() ? 1 : 0);
}

void OtherJobs::hold(PeerId peer) {
  if (is_of_other_job(peer)) process_.peers_->hold(peer);
}

// May be called in the middle of a round of progress: links are given back in part().
void OtherJobs::let_go(PeerId peer) {
  if (!is_of_other_job(peer) || process_.peers_->let_go(peer) != 0) return;
  const std::lock_guard guard(mutex_);
  parting_.push_back(peer);
}

void OtherJobs::part() {
  std::vector<PeerId> now;
  {
    const std::lock_guard guard(mutex_);
    now.swap(parting_);
  }
  std::vector<PeerId> later;
  for (const PeerId peer : now)
    if (!part_from(peer)) later.push_back(peer);
  if (!now.empty()) tell_launcher();
  const std::lock_guard guard(mutex_);
  parting_.insert(parting_.end(), later.begin(), later.end());
}

// All locks at once: what one lane has given back, no other may use again. False: something is under way still.
bool OtherJobs::part_from(PeerId peer) ASHLAR_NO_THREAD_SAFETY {
  if (process_.peers_->is_held(peer)) return true;  // they have met again meanwhile
  const auto& lanes = process_.lanes_;
  for (const auto& lane : lanes) lane->lock.lock();
  p2p::say_goodbye(*lanes.front(), peer, false);
  bool done = true;
  for (const auto& lane : lanes) done = done && p2p::done_with(*lane, peer);
  if (done) {
    for (const auto& lane : lanes) p2p::drop_links(*lane, peer);
    if (process_.peers_->forget(peer)) process_.wiring_->drop_card(peer);
    const std::lock_guard guard(mutex_);
    watched_.erase(peer);
  }
  for (const auto& lane : lanes) lane->lock.unlock();
  return done;
}

Status OtherJobs::name_service(Descriptor* socket) {
  const ashlar_launch_ops& ops = *process_.launch->ops;
  if (ops.name_service == nullptr) return {};
  int fd = -1;
  const ashlar_result asked = ops.name_service(process_.launch, &fd);
  if (asked != ASHLAR_OK) return fail(MPI_ERR_OTHER, "name.no_service", {{"lower", process_.launch_reason(asked)}});
  *socket = Descriptor(fd);
  return {};
}

void OtherJobs::network(std::string* interfaces, std::string* ports) const {
  if (const param::Setting* const set = process_.params.find("transport.tcp.interfaces")) *interfaces = set->text;
  if (const param::Setting* const set = process_.params.find("transport.tcp.ports")) *ports = set->text;
}

bool OtherJobs::starts_elsewhere() const { return process_.job->nodes > 1 || process_.job->starts_elsewhere != 0; }

// All locks at once, as lanes look at each other's interfaces.
void OtherJobs::reach_other_nodes() ASHLAR_NO_THREAD_SAFETY {
  const auto& lanes = process_.lanes_;
  for (const auto& lane : lanes) lane->lock.lock();
  process_.wiring_->open_networks();
  for (const auto& lane : lanes) {
    progress::raise_armed(*lane);  // who sleeps does not know the new interfaces
    lane->lock.unlock();
  }
}

std::uint64_t OtherJobs::connect_timeout_ns() const { return process_.runtime_config_.connect_timeout; }

Status OtherJobs::start_job(Descriptor* socket) {
  const ashlar_launch_ops& ops = *process_.launch->ops;
  if (ops.further_job == nullptr) return start_launcher(socket);
  int fd = -1;
  const ashlar_result asked = ops.further_job(process_.launch, &fd);
  if (asked != ASHLAR_OK) return fail(MPI_ERR_SPAWN, "spawn.no_launcher", {{"lower", process_.launch_reason(asked)}});
  *socket = Descriptor(fd);
  return {};
}

void OtherJobs::watch(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  constexpr std::uint64_t kLong = 1'000'000'000;
  if (!knows_others()) return;
  const std::uint64_t now = now_ns();
  bool waits_long = false;
  for (const progress::Waiting& waiting : lane.waits) waits_long = waits_long || now - waiting.since() > kLong;
  if (!waits_long) return;
  for (const PeerId peer : process_.peers_->held()) {
    {
      const std::lock_guard guard(mutex_);
      if (!watched_.insert(peer).second) continue;
    }
    p2p::watch(lane, peer);
  }
}

void OtherJobs::end(const Comm& comm, int code) ASHLAR_NO_THREAD_SAFETY {
  constexpr int kRounds = 1000;
  Lane& lane = *process_.lanes_.front();
  if (!lane.lock.try_lock()) return;
  for (const Group* const group : {comm.local_group.get(), comm.remote_group.get()})
    for (Rank r = 0; group != nullptr && r < group->size(); ++r)
      if (is_of_other_job((*group)[r])) p2p::say_end(lane, (*group)[r], code);
  for (int round = 0; round < kRounds && !p2p::quiet(lane); ++round) progress::poll(lane);
  lane.lock.unlock();
}

void OtherJobs::take_leave() {
  PeerTable& peers = *process_.peers_;
  part();
  process_.p2p_state_.leaves.store(true, std::memory_order_relaxed);
  if (!peers.knows_others()) return;
  Lane& lane = *process_.lanes_.front();
  const p2p::Leaving leaving{"MPI_Finalize", nullptr};
  const LaneGuard guard(lane.lock);
  // Those that it is parting from are not waited for: what is under way to them keeps the lane from being quiet.
  std::vector<Peer*> connected;
  for (const PeerId id : peers.held())
    if (Peer* const peer = peers.find(id)) connected.push_back(peer);
  for (const Peer* const peer : connected) p2p::say_goodbye(lane, peer->id, true);
  // The analysis does not see into a lambda: progress::wait() calls it with the lock held.
  const auto all_left = [&]() ASHLAR_NO_THREAD_SAFETY {
    for (const Peer* const peer : connected)
      if (!peer->said_goodbye.load(std::memory_order_acquire) && !peer->failed.load(std::memory_order_relaxed))
        return false;
    return p2p::quiet(lane);
  };
  progress::wait(lane, all_left, p2p::because_of(leaving));
}

}  // namespace ashlar::runtime

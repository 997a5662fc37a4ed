#include "components/rma/am/sync.h"

#include <cstdio>
#include <new>

#include "framework/base/failure.h"
#include "framework/plugin/account.h"
#include "framework/rma/waiting.h"

namespace ashlar::rma::am {
namespace {

constexpr Rank kKeeper = 0;  // of the lock between lock_all and exclusive locks

struct LockWait final : WindowWait {
  LockWait(const LockGrant& of, Rank of_rank, WhichLock lock, AmWindow& in)
      : grant(of), at(of_rank), which(lock), window(in) {}
  bool over() override { return grant.granted; }
  bool needs(Rank) const override { return true; }  // any process may hold the lock, or wait before this one
  void tell(plugin::AccountWriter& account) const override {
    char reason[160];
    if (which == kWindowLock) {
      std::snprintf(reason, sizeof reason, "%s,",
                    grant.held == LockMode::kAll ? "until no epoch of MPI_Win_lock_all is open"
                                                 : "until no rank of the window is locked exclusively");
    } else if (grant.holder < 0) {
      std::snprintf(reason, sizeof reason, "for rank %d to grant its lock", at);
    } else {
      std::snprintf(reason, sizeof reason, "for the lock of rank %d, which rank %d %s (%u asked before),", at,
                    grant.holder, grant.held == LockMode::kExclusive ? "holds exclusively" : "holds", grant.before);
    }
    tell_wait(account, window.window, grant.holder >= 0 ? grant.holder : at, reason);
  }
  Rank asked() const override { return at; }
  const LockGrant& grant;
  const Rank at;
  const WhichLock which;
  AmWindow& window;
};

/// Until the request of another thread for the lock at rank 0 is over.
struct OtherThreadWait final : WindowWait {
  OtherThreadWait(const bool& whether, AmWindow& in) : under_way(whether), window(in) {}
  bool over() override { return !under_way; }
  bool needs(Rank) const override { return true; }
  void tell(plugin::AccountWriter& account) const override {
    tell_wait(account, window.window, kKeeper, "for a lock that another thread has asked for");
  }
  const bool& under_way;
  AmWindow& window;
};

/// Until a counter of each of these channels is above zero.
struct CountWait final : WindowWait {
  CountWait(std::span<const Rank> whose, int Channel::*which, const char* call, AmWindow& in)
      : ranks(whose), counter(which), awaited(call), window(in) {}
  bool missing(Rank rank) const { return window.channels[static_cast<std::size_t>(rank)].get()->*counter <= 0; }
  bool over() override {
    while (met < ranks.size() && !missing(ranks[met])) ++met;
    return met == ranks.size();
  }
  bool needs(Rank rank) const override {
    for (const Rank one : ranks)
      if (one == rank && missing(one)) return true;
    return false;
  }
  void tell(plugin::AccountWriter& account) const override {
    for (const Rank rank : ranks) {
      if (!missing(rank)) continue;
      char reason[80];
      std::snprintf(reason, sizeof reason, "until rank %d calls %s", rank, awaited);
      tell_wait(account, window.window, rank, reason);
    }
  }
  /// Takes one from each counter.
  void take() {
    for (const Rank rank : ranks) --(window.channels[static_cast<std::size_t>(rank)].get()->*counter);
  }
  const std::span<const Rank> ranks;
  int Channel::*const counter;
  const char* const awaited;
  AmWindow& window;
  std::size_t met = 0;
};

}  // namespace

Status MessageSync::send(Rank to, Sub sub, const LockRequest* lock) {
  Channel* channel = nullptr;
  ASHLAR_TRY(window_.channel(to, &channel));
  auto* const note = new (std::nothrow) Note(sub, lock);
  if (note == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a message of a window"}, {"peer", to}});
  channel->requests.add(*note);
  const Status sent = window_.wire().kick(channel->requests);
  if (!sent.ok()) channel->requests.end();
  return sent;
}

Status MessageSync::send_all(std::span<const Rank> to, Sub sub) {
  Status first;  // the others wait for it, whatever has become of one
  for (const Rank rank : to) {
    const Status sent = send(rank, sub);
    if (first.ok()) first = sent;
  }
  return first;
}

// Notes that are not answered have arrived when the barrier is over: the context of a window may be used again.
Status MessageSync::barrier(const char* call) {
  Status first;
  {
    const LaneGuard guard(lane());
    for (std::unique_ptr<Channel>& channel : window_.channels) {
      if (channel == nullptr || channel->requests.idle()) continue;
      const Status flushed = window_.flush(*channel, true, call);
      if (first.ok()) first = flushed;
    }
  }
  const Status met = window_.wire().barrier(call);
  return first.ok() ? met : first;
}

Status MessageSync::post(std::span<const Rank> origins, bool) {
  const LaneGuard guard(lane());
  return send_all(origins, Sub::kPost);
}

Status MessageSync::start(std::span<const Rank> targets, bool no_check) {
  const LaneGuard guard(lane());
  Channel* channel = nullptr;
  for (const Rank rank : targets) ASHLAR_TRY(window_.channel(rank, &channel));
  CountWait wait(targets, &Channel::posts, "MPI_Win_post", window_);
  if (!no_check) ASHLAR_TRY(window_.wire().wait(wait, "MPI_Win_start"));
  wait.take();
  return {};
}

Status MessageSync::complete(std::span<const Rank> targets) {
  const LaneGuard guard(lane());
  return send_all(targets, Sub::kComplete);
}

Status MessageSync::exposure_over(std::span<const Rank> origins, bool wait, bool* over) {
  const LaneGuard guard(lane());
  Channel* channel = nullptr;
  for (const Rank rank : origins) ASHLAR_TRY(window_.channel(rank, &channel));
  CountWait completes(origins, &Channel::completes, "MPI_Win_complete", window_);
  if (wait) ASHLAR_TRY(window_.wire().wait(completes, "MPI_Win_wait"));
  *over = completes.over();
  if (*over) {
    completes.take();
  } else {
    ASHLAR_TRY(window_.wire().can_go_on(completes));
  }
  return {};
}

Status MessageSync::acquire(Rank at, WhichLock which, LockMode mode) {
  Channel* channel = nullptr;
  ASHLAR_TRY(window_.channel(at, &channel));
  LockGrant& grant = channel->grants[which];
  grant = {};
  const LockRequest request{
      .which = which, .mode = static_cast<std::uint8_t>(mode), .nested = static_cast<std::uint8_t>(locks_ != 0)};
  ASHLAR_TRY(send(at, Sub::kLock, &request));
  LockWait wait(grant, at, which, window_);
  return window_.wire().wait(wait, mode == LockMode::kAll ? "MPI_Win_lock_all" : "MPI_Win_lock");
}

Status MessageSync::release(Rank at, WhichLock which, LockMode mode) {
  const LockRequest request{.which = which, .mode = static_cast<std::uint8_t>(mode), .nested = 0};
  return send(at, Sub::kUnlock, &request);
}

Status MessageSync::acquire_some() {
  while (asking_) {
    OtherThreadWait wait(asking_, window_);
    ASHLAR_TRY(window_.wire().wait(wait, "MPI_Win_lock"));
  }
  if (exclusive_ == 0) {
    asking_ = true;
    const Status outcome = acquire(kKeeper, kWindowLock, LockMode::kSome);
    asking_ = false;
    ASHLAR_TRY(outcome);
  }
  ++exclusive_;
  return {};
}

Status MessageSync::release_some() {
  return --exclusive_ != 0 ? Status() : release(kKeeper, kWindowLock, LockMode::kSome);
}

Status MessageSync::lock(Target& target, bool exclusive) {
  const LaneGuard guard(lane());
  if (exclusive) ASHLAR_TRY(acquire_some());
  const Status outcome = acquire(target.rank, kTargetLock, exclusive ? LockMode::kExclusive : LockMode::kShared);
  if (outcome.ok()) {
    ++locks_;
  } else if (exclusive) {
    static_cast<void>(release_some());
  }
  return outcome;
}

Status MessageSync::unlock(Target& target, bool exclusive) {
  const LaneGuard guard(lane());
  --locks_;
  const Status released = release(target.rank, kTargetLock, exclusive ? LockMode::kExclusive : LockMode::kShared);
  const Status all = exclusive ? release_some() : Status();
  return released.ok() ? all : released;
}

Status MessageSync::lock_all() {
  const LaneGuard guard(lane());
  return acquire(kKeeper, kWindowLock, LockMode::kAll);
}

Status MessageSync::unlock_all() {
  const LaneGuard guard(lane());
  return release(kKeeper, kWindowLock, LockMode::kAll);
}

}  // namespace ashlar::rma::am

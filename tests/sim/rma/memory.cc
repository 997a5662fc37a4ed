#include "tests/sim/rma/memory.h"

#include <cstdlib>

#include "framework/base/failure.h"
#include "framework/plugin/registry.h"
#include "framework/rma/patience.h"

namespace ashlar::sim {

constinit MemoryRanks* MemoryRanks::current_ = nullptr;

namespace {

/// SharedSync reads the parameters of the room.
rma::Engine& engine() {
  static auto* const registry = new plugin::Registry(nullptr);
  static auto* const made = new rma::Engine(*registry, rma::Config{});
  return *made;
}

}  // namespace

MemoryRanks::MemoryRanks(int ranks, Fibers& of, bool central, const rma::shm::LockLimits& limits)
    : fibers(of), block_(nullptr, std::free) {
  engine();
  current_ = this;
  const auto count = static_cast<std::uint32_t>(ranks);
  const std::size_t bytes = (rma::shm::Control::bytes(count) + kCacheLine - 1) / kCacheLine * kCacheLine;
  // Fresh pages of the system are zero: the words of pairs that never meet take no memory.
  block_.reset(static_cast<std::byte*>(std::calloc(bytes + kCacheLine, 1)));
  const auto at = (reinterpret_cast<std::uintptr_t>(block_.get()) + kCacheLine - 1) / kCacheLine * kCacheLine;
  const rma::shm::Control control(reinterpret_cast<std::byte*>(at), count);
  control.header().central.store(central ? 1 : 0, std::memory_order_relaxed);
  is_waking_.resize(count);
  is_woken_.resize(count);
  control.header().limits = limits;
  for (Rank rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Member>());
    Member& member = *ranks_.back();
    member.window.name.give("sim");
    member.window.me = rank;
    member.window.ranks = ranks;
    member.window.areas = control.areas();
    member.sync = std::make_unique<rma::shm::SharedSync>(member.window, control);
  }
  fibers.event = [this] {
    if (waking_.empty()) return false;
    const std::size_t one = fibers.random(waking_.size());
    is_waking_[static_cast<std::size_t>(waking_[one])] = false;
    is_woken_[static_cast<std::size_t>(waking_[one])] = true;
    fibers.ready(waking_[one]);
    waking_[one] = waking_.back();
    waking_.pop_back();
    return true;
  };
}

MemoryRanks::~MemoryRanks() { current_ = nullptr; }

void MemoryRanks::wake(Rank rank) {
  ++wakes_;
  if (is_waking_[static_cast<std::size_t>(rank)]) return;
  is_waking_[static_cast<std::size_t>(rank)] = true;
  waking_.push_back(rank);
}

bool MemoryRanks::take_wake(Rank rank) {
  const bool was = is_woken_[static_cast<std::size_t>(rank)];
  is_woken_[static_cast<std::size_t>(rank)] = false;
  return was;
}

}  // namespace ashlar::sim

// Waiting for shared memory, for components/rma/shm and the gate.
namespace ashlar::rma {

using sim::Fibers;

namespace {

constexpr int kPolls = 3;
constexpr std::uint32_t kRoundsAtOnce = 60;  // of Patience, so that it comes to sleep soon

struct Sleeper {
  const std::atomic<std::uint32_t>* word;
  Rank rank;
};
std::vector<Sleeper>& sleepers() {
  static auto* const all = new std::vector<Sleeper>;
  return *all;
}

Status alive(Rank rank) {
  if (!Fibers::current().knows(rank)) return {};
  return fail(MPI_ERR_PROC_ABORTED, "rma.peer_gone",
              {{"peer", Fibers::current().who_dies()}, {"window", "sim"}, {"lower", "killed"}});
}

}  // namespace

Status wait(RmaWindow& window, Condition& condition) {
  Fibers& fibers = Fibers::current();
  for (std::uint64_t polls = fibers.random(kPolls); polls > 0; --polls) {
    if (condition.holds()) return {};
    fibers.yield();
  }
  if (condition.holds()) return {};
  condition.announce();
  Status outcome;
  while (!condition.holds() && (outcome = alive(window.me)).ok())
    if (!sim::MemoryRanks::current().take_wake(window.me)) fibers.block();
  condition.withdraw();
  return outcome;
}

void wake(RmaWindow&, Rank rank, bool) { sim::MemoryRanks::current().wake(rank); }

bool Patience::round(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  Fibers& fibers = Fibers::current();
  const bool sleeps = about_to_sleep() && sleep_ns_ != kUnwokenNs;
  rounds_ += kRoundsAtOnce;
  if (!sleeps || word.load() != seen) {
    fibers.yield();
    return false;
  }
  sleepers().push_back({.word = &word, .rank = fibers.rank()});
  fibers.block();
  rounds_ = 0;
  return true;
}

void wake(std::atomic<std::uint32_t>& word, int most) {
  std::erase_if(sleepers(), [&](const Sleeper& one) {
    if (one.word != &word || most-- <= 0) return false;
    Fibers::current().ready(one.rank);
    return true;
  });
}

}  // namespace ashlar::rma

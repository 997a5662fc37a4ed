#pragma once
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "components/coll/shm/segment/waits.h"
#include "framework/base/status.h"

namespace ashlar::coll::shm {

/// A wire that records which ranks were woken. Collectives in shared memory send nothing.
class WakeWire final : public Wire {
 public:
  WakeWire() : Wire(nullptr) {}
  Status send(Rank, const DataView&, Tag, Gate&) override { std::abort(); }
  Status recv(Rank, const DataView&, Tag, Gate&) override { std::abort(); }
  void wait(Gate&) override { std::abort(); }
  Status wait(Condition&) override { std::abort(); }
  void watch(Condition&) override { std::abort(); }
  void wake(Rank member) override { woken.push_back(member); }
  Status can_go_on(Tag) override { return {}; }

  std::vector<Rank> woken;
};

/// The ranks of one segment on a buffer of this process: no processes, no shared mapping.
class World {
 public:
  explicit World(std::uint32_t ranks, bool flat = true, std::uint64_t buffer_bytes = 4096)
      : bytes_(SegmentLayout::bytes(ranks, buffer_bytes)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes_ + 4095) / 4096 * 4096))) {
    std::memset(memory_.get(), 0, bytes_);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      wires.emplace_back();
      Member& member = members_.emplace_back(wires.back(), static_cast<Rank>(r));
      member.layout = SegmentLayout(memory_.get(), ranks, buffer_bytes);
      member.flat = flat;
    }
    layout().header().ranks = ranks;
  }

  Member& operator[](std::size_t r) { return members_[r]; }
  SegmentLayout& layout() { return members_[0].layout; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(members_.size()); }
  std::uint64_t bytes() const { return bytes_; }
  const std::byte* memory() const { return memory_.get(); }
  /// The next collective's numbers on every rank.
  void start_at(std::uint64_t number) {
    for (Member& member : members_) {
      member.next_number = member.turn = number;
      member.all_done = number - 1;
      member.state().done.store(number - 1);
    }
  }

  std::deque<WakeWire> wires;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::uint64_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::deque<Member> members_;
};

inline Call call_of(Collective what, Rank root = 0, MPI_Count bytes = 8) {
  Call call;
  call.what = what;
  call.root = root;
  call.bytes = bytes;
  return call;
}
/// Takes a ticket as enter() of the component does where nothing is missing.
inline Ticket begin(Member& member, const Call& call, std::uint64_t numbers = 1, MPI_Count bytes = 8) {
  const Ticket ticket = Ticket::take(member, call, {.own = bytes, .any = bytes}, numbers);
  ticket.record_call();
  return ticket;
}
/// One poll of a wait, as the progress loop makes it: whether it is over, however it ended.
template <class Wait>
bool poll(Wait& wait) {
  return wait.holds(wait);
}
/// Polls a wait that is about to sleep.
template <class Wait>
void fall_asleep(Wait& wait) {
  wait.before_sleep(wait);
}
/// Ends a wait, as the awaiter does it.
template <class Wait>
Status end(Wait& wait) {
  wait.over(wait.outcome);
  return wait.outcome;
}

}  // namespace ashlar::coll::shm

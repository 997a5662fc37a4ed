#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/types.h"
#include "framework/coll/collective.h"
#include "framework/p2p/internal.h"

namespace ashlar::coll {

/// What this rank called as one of the collectives of a communicator, and what became of it.
struct Called {
  enum : std::uint8_t {
    kOver = 1,        // it has returned, or its request is complete
    kFailed = 2,      // it has failed here, or another rank has reported that it failed there
    kSeen = 4,        // a review has found it waiting
    kCompared = 8,    // the neighbours have been told what was called
    kUncompared = 16  // check.collectives compares it: messages do not carry it
  };

  Tag tag = -1;
  Collective what = Collective::kBarrier;
  std::uint8_t flags = kOver;
  std::uint16_t error_class = 0;  // with kFailed
  std::uint64_t position = 0;     // see CommState::position; behind this collective, once it has begun
  Rank root = 0;                  // 0 on an intercommunicator
  MPI_Count bytes = 0;            // the quantity; 0 on an intercommunicator

  bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
  ashlar::p2p::CallWord word() const {
    if (is(kUncompared)) return {};
    return ashlar::p2p::CallWord::of(static_cast<unsigned>(what), static_cast<std::uint64_t>(bytes));
  }
};

/// The latest collectives of one communicator, by their numbers. Of one that is still in flight when kRemembered later
/// ones have been called, nothing is known any more; it is not compared then.
class CallLog {
 public:
  static constexpr std::uint32_t kRemembered = 64;

  Called& enter(Tag tag, Collective what, Rank root, MPI_Count bytes, std::uint64_t position) {
    Called& called = at(tag);
    called.tag = tag;
    called.what = what;
    called.flags = 0;
    called.position = position;
    called.root = root;
    called.bytes = bytes;
    return called;
  }
  Called* find(Tag tag) {
    Called& called = at(tag);
    return called.tag == tag ? &called : nullptr;
  }
  template <class Visit>
  void each_open(Visit visit) {
    for (Called& called : entries_)
      if (!called.is(Called::kOver)) visit(called);
  }

 private:
  Called& at(Tag tag) { return entries_[static_cast<std::uint32_t>(tag) % kRemembered]; }  // numbers are not negative
  Called entries_[kRemembered];
};

}  // namespace ashlar::coll

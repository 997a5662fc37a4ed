#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/types.h"
#include "framework/coll/collective.h"
#include "framework/p2p/collective.h"

namespace ashlar::coll {

/// One collective of a communicator as this rank called it, and its state here. All starts of a persistent collective
/// have one number and one entry, of the latest start.
struct LoggedCall {
  enum : std::uint8_t {
    kOver = 1,          // it has returned, or its request is complete
    kFailed = 2,        // it has failed here, or another rank has reported that it failed there
    kSeen = 4,          // a review has found it waiting
    kCompared = 8,      // the neighbours have been sent this call
    kUncompared = 16,   // check.collectives compares it: messages do not carry it
    kRequestFreed = 32  // a persistent collective that this rank cannot start any more
  };

  Tag tag = -1;
  Collective what = Collective::kBarrier;
  std::uint8_t flags = kOver;
  std::uint16_t error_class = 0;  // with kFailed
  std::uint64_t position = 0;     // CommState::position; behind this collective, once it has begun
  Rank root = 0;                  // 0 on an intercommunicator
  MPI_Count bytes = 0;            // the quantity (quantity_of); 0 on an intercommunicator
  std::uint32_t start = 0;        // of a persistent collective: the number of the start, from 1; 0: none yet

  bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
  /// What this call's messages carry, for their receivers to compare.
  ashlar::p2p::CallSignature signature() const {
    if (is(kUncompared)) return {};
    return ashlar::p2p::CallSignature::of(static_cast<unsigned>(what), static_cast<std::uint64_t>(bytes));
  }
};

/// The latest collectives of one communicator, by their numbers. The entry of one that is still in flight when
/// kRemembered later ones have been called is overwritten: that one is not compared any more.
class CallLog {
 public:
  static constexpr std::uint32_t kRemembered = 64;

  LoggedCall& enter(Tag tag, Collective what, Rank root, MPI_Count bytes, std::uint64_t position, std::uint32_t start) {
    LoggedCall& called = at(tag);
    called.tag = tag;
    called.what = what;
    called.flags = 0;
    called.position = position;
    called.root = root;
    called.bytes = bytes;
    called.start = start;
    return called;
  }
  LoggedCall* find(Tag tag) {
    LoggedCall& called = at(tag);
    return called.tag == tag ? &called : nullptr;
  }
  template <class Function>
  void each(Function function) {
    for (LoggedCall& called : entries_) function(called);
  }
  template <class Function>
  void each_open(Function function) {
    each([&](LoggedCall& called) {
      if (!called.is(LoggedCall::kOver)) function(called);
    });
  }

 private:
  LoggedCall& at(Tag tag) {
    return entries_[static_cast<std::uint32_t>(tag) % kRemembered];  // numbers are not negative
  }
  LoggedCall entries_[kRemembered];
};

}  // namespace ashlar::coll

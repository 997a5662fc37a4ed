#pragma once
#include <mutex>
#include <unordered_map>

#include "components/rma/shm/delegate.h"

/// What a process needs to offer operations: delegate.cc, shared_copy.cc.
namespace ashlar::rma::shm {

/// After an offer that a target did not take, none is made to it for some time: it seems to compute.
/// Offers in vain take a tenth of the time at most, and a hundredth after some; those of short operations, with which
/// less is won, a hundredth, and then half of that.
struct Reluctance {
  std::uint64_t until = 0;
  unsigned failures = 0;

  void failed(bool of_short);
};

struct Origin {
  std::mutex mutex;  // guards the rest; one operation of the process is offered at a time
  Delegated* delegated = nullptr;
  std::unordered_map<const Mailbox*, Reluctance> reluctances;
  std::unordered_map<const Mailbox*, Reluctance> unshared;  // the same of long puts and gets, which wait for nothing

  /// In the heap, where others find it; nullptr: there is no room.
  Delegated* piece();
};
Origin& origin();

/// Of a target; nullptr: it takes no offers.
Mailbox* mailbox_of(RmaWindow& window, const Target& target);
/// Offers the operation that `piece` describes. False: another process offers something.
bool place_offer(RmaWindow& window, const Target& target, Mailbox& box, const Delegated& piece);

}  // namespace ashlar::rma::shm

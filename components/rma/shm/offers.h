#pragma once
#include <mutex>
#include <unordered_map>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/short_puts.h"

/// What a process needs to offer operations: delegate.cc, shared_copy.cc.
namespace ashlar::rma::shm {

/// After an offer that a target did not take, none is made to it for some time: it seems to compute.
/// Offers in vain take a tenth of the time at first, and a hundredth after some. With short operations less is won:
/// half of that at last, but a fifth at first, as a target that sleeps in its wait may take longer than an offer lasts
/// to wake up, and is there soon after.
struct Reluctance {
  std::uint64_t until = 0;
  unsigned failures = 0;

  void failed(bool of_short);
  /// No offer is to be made now.
  bool holds() const;
};

/// What an origin knows of a process that takes offers.
struct Taker {
  Mailbox* box = nullptr;
  Reluctance reluctance;
  Reluctance unshared;  // of long puts and gets, which wait for nothing
};

/// A new one, in the heap, where others find it; nullptr: there is no room.
Delegated* make_piece();

struct Origin {
  std::mutex mutex;  // guards the rest; one operation of the process is offered at a time
  Delegated* delegated = nullptr;
  ShortPuts short_puts;

  /// nullptr: there is no room.
  Delegated* piece();
  /// nullptr: the target takes no offers.
  Taker* taker_of(RmaWindow& window, const Target& target);

 private:
  std::unordered_map<const Neighbour*, Taker> takers_;
  const Neighbour* latest_process_ = nullptr;
  Taker* latest_ = nullptr;
};
Origin& origin();

/// Takes the mailbox for an operation that is yet to be described. False: another process offers something.
bool claim(Mailbox& box);
/// The mailbox, which this process has claimed, has its `work` and `at`: the target may take the offer.
void offer(RmaWindow& window, Rank target, Mailbox& box);
/// Until the target has carried out the offer, and the mailbox is this process's to read and to free, or has not taken
/// it in time. It may be about to offer something to this process, so the own mailbox is looked at as well.
bool await(Mailbox& box, bool shared_core);
/// Claims the mailbox and offers what `piece` describes.
bool place_offer(RmaWindow& window, const Target& target, Mailbox& box, const Delegated& piece);

}  // namespace ashlar::rma::shm

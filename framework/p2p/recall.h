#pragma once
#include "framework/base/slab.h"
#include "framework/p2p/operation.h"

/// Cancelling standard sends that have left. Their requests are complete at once; MPI_Cancel makes such a request
/// active again until the receiver has said whether it could still take the message out of its queue. The message is
/// known by the name of its request. Names are used again, but of the messages with one envelope and one name that lie
/// unreceived at a process only the newest can be meant: the older ones would have had to be received first.
namespace ashlar::p2p {

/// The requests that nonblocking sends hand out when they have left within the call. As many are made as a program has
/// at a time; they are never constructed again, and the one given back last is the next to be used.
class SentRequests {
 public:
  /// One that is free, still free; nullptr: no memory for one.
  SendRequest* next(Slab<SendRequest>& memory, Comm& nowhere) {
    if (free_ == nullptr) [[unlikely]]
      make_one(memory, nowhere);
    return free_;
  }
  /// Takes what next() gave.
  void use(const SendRequest& r) { free_ = r.next_sent; }
  void put(SendRequest& r) {
    r.next_sent = free_;
    free_ = &r;
  }
  /// How many wait here for their next use: out of their storage, and not in use. Walks through them, because
  /// a count would cost every nonblocking send two instructions.
  std::size_t idle() const {
    std::size_t n = 0;
    for (const SendRequest* r = free_; r != nullptr; r = r->next_sent) ++n;
    return n;
  }

 private:
  void make_one(Slab<SendRequest>& memory, Comm& nowhere);

  SendRequest* free_ = nullptr;
};

/// Looks after sends that are being cancelled, as long as there are any: a receiver that is at rest answers nothing,
/// but its transport can tell what it has read. What it had taken in and not received it has returned before
/// (kUnreceived).
class CancelWatch : public Poller {
 public:
  explicit CancelWatch(Lane& lane);
  void begin();

 private:
  bool look();
  bool look_at(Link& link, bool* got_on);

  Lane& lane_;
  bool polled_ = false;
  std::uint32_t rounds_ = 0;
};

/// Whether it is certain that the message of `r`, which has left, is not and will not be received.
bool never_received(const SendRequest& r);
/// Whether the peer at the other end is at rest: it reads nothing.
bool at_rest(const Link& link);
/// Asks the receiver of a message that has left to take it back. The request is active until the answer.
Status recall(SendRequest& r);
/// Ends a send that is being cancelled and whose peer has failed, if the transport knows what became of the message.
/// False: it is not being cancelled, or that is not known.
bool end_cancelled_by_failure(SendRequest& r);

}  // namespace ashlar::p2p

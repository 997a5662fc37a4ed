#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "framework/base/slab.h"
#include "framework/p2p/operation.h"

/// Cancelling standard sends that have left. Their requests are complete at once; MPI_Cancel makes such a request
/// active again until the receiver has said whether it could still take the message out of its queue. The message is
/// told by the name of its request. Names are used again, but of the messages with one envelope and one name that lie
/// unreceived at a process only the newest can be meant: the older ones would have had to be received first.
namespace ashlar::p2p {

/// The requests that nonblocking sends hand out when they have left within the call. Few are made, as many as a program
/// has at a time; they are never constructed again. When all are in use the send gets a request that cannot be
/// recalled.
class SentRequests {
 public:
  static constexpr unsigned kMost = 64;

  /// One that is free, still free; nullptr: there is none.
  SendRequest* next(Slab<SendRequest>& memory, Comm& nowhere) {
    if (free_ == 0) [[unlikely]]
      make_one(memory, nowhere);
    return free_ != 0 ? all_[static_cast<unsigned>(std::countr_zero(free_))] : nullptr;
  }
  void use(const SendRequest& r) { free_ &= ~(1ull << r.place_among_sent); }
  void put(const SendRequest& r) { free_ |= 1ull << r.place_among_sent; }

 private:
  void make_one(Slab<SendRequest>& memory, Comm& nowhere);

  std::uint64_t free_ = 0;  // bit i: all_[i]
  std::array<SendRequest*, kMost> all_ = {};
  unsigned made_ = 0;
};

/// Asks the receiver of a message that has left to take it back. The request is active until the answer.
Status recall(SendRequest& r);
/// The end of that, if `operation` is being recalled; its peer may have failed. False: it is not.
bool end_recall(Operation& operation, bool cancelled);

}  // namespace ashlar::p2p

#pragma once
#include <cstdint>

#include "components/transport/shm/layout.h"
#include "framework/plugin/transport.h"

// Receives posted in shared memory: the owner describes a receive in its segment, and the process that will send the
// message finds the description there and writes the message into the owner's memory (process_vm_writev) without the
// owner's help.
//
// Which message is meant: of the records in the sender's ring that were not delivered when the receive was posted, the
// one that comes after `before` others of its kind. The owner only notes how far it had come in that ring. The sender,
// which still has the records before it, counts. Where the ring has come round since, nothing can be found out, and the
// post is of no use.
//
// Who may write is one word, `state`. The sender takes it for one piece of the message at a time (kWriting), so that
// the owner gets its memory back at any time: at once between pieces, else by asking for it and waiting for the end of
// the piece. Every change of `state` is a release and every look at it an acquire: the side that gets
// the memory sees what was written there before.
//
//   kOpen -----> kWriting <----> kBetween      sender, per piece        kOpen, kBetween -> kNone     owner, withdraws
//                   |  \-------> kFilled       sender, the last one     kWriting -> kAsked           owner, has to wait
//                   `- kAsked -> kStopped      sender, was asked        kFilled, kStopped -> kNone   owner
namespace ashlar::shm {

class Segment;
struct Endpoint;

enum PostState : std::uint64_t { kNone = 0, kOpen, kBetween, kWriting, kAsked, kStopped, kFilled };

/// The owner's side: receives of this process that others may write into. Under the lane's lock.
class Posts {
 public:
  void attach(const Segment* own) { own_ = own; }
  ashlar_result post(const Endpoint& to, const ashlar_posted& what, std::uint32_t* number);
  ashlar_result withdraw(std::uint32_t number, std::uint64_t* written);
  /// The process behind `nonce` has ended: it writes no more.
  void stop(std::uint64_t nonce);

 private:
  void release(std::uint32_t i);

  const Segment* own_ = nullptr;
  std::uint64_t used_ = 0;
  std::uint64_t generations_[kPosts] = {};
  bool has_memory_ = false;
};

/// The sender's side: ashlar_post_ops::find and write.
ashlar_result find_post(const Endpoint& to, const ashlar_sent& message, ashlar_found* found);
ashlar_result write_post(const Endpoint& to, ashlar_found* found, const void* data, std::uint64_t length,
                         std::uint64_t most);

}  // namespace ashlar::shm

#pragma once
#include <cstdint>

#include "framework/base/slab.h"
#include "framework/match/queues.h"
#include "framework/p2p/operation.h"
#include "framework/progress/lane.h"

/// Receives posted in shared memory: a large message arrives while its receiver computes. A nonblocking receive that is
/// posted is described where the one process that can send its message finds it. That process sends its RTS as ever,
/// and when no answer comes it writes the message into the receive itself. Matching is not touched: the RTS lies in
/// order among the other messages, the receiver matches it when it next makes progress, withdraws the receive, and goes
/// on from what is written there.
///
/// Why the sender cannot write the wrong message: a receive of one source and one tag, with none before it that a
/// wildcard lets compete, takes the message that comes after as many others of its context, source and tag as there are
/// such receives posted before it. The receiver tells that number and how far it has come among the sender's messages;
/// the sender counts (ashlar_posted). Only a receive cancelled between would falsify the number: see `committed`.
///
/// A transport that cannot do this has no ashlar_post_ops, and nothing here happens on its links.
namespace ashlar::p2p {

struct Config;

/// The receiver's side, of one lane. Guarded by its lock. The rest of the room calls it where a receive is posted,
/// matched, cancelled, and ended.
class SharedPosts {
 public:
  SharedPosts(Lane& lane, const Config& config, match::PostedQueue& posted);

  /// Bytes of the smallest receive that may be worth it; links decide.
  MPI_Count smallest() const { return smallest_; }
  /// Posts `r`, which was just put into the queue, in shared memory if that is possible. Never fails: without it all is
  /// as ever.
  void post(RecvRequest& r);
  /// `r` is matched, by an RTS or by a message that has arrived whole: takes its memory back. Afterwards `r.received`
  /// is what the sender has written. A sender that writes at this moment stops soon and says so (kStopped); until then
  /// `r.post` stays set.
  void matched(RecvRequest& r, bool by_rts);
  /// Whether a message is certain to come for `r`, which is posted and to be cancelled: its sender, or that of a later
  /// receive of the same key, has begun to write. Else neither is posted in shared memory any more, for the later ones'
  /// numbers are wrong without this one.
  bool committed(RecvRequest& r);
  /// `r` is over, whatever its sender does.
  void drop(RecvRequest& r);
  /// The sender of `r` has stopped writing. False: `r` does not wait for that.
  bool stopped(RecvRequest& r, std::uint32_t number);

  /// Performance variables: posted now, and ever.
  const Counter& level() const { return level_; }
  const Counter& total() const { return total_; }

 private:
  bool withdraw(RecvRequest& r);
  std::size_t ahead_of(const RecvRequest& r);

  /// The receive that was posted last. When the next one follows on it, those ahead need not be counted again.
  struct Last {
    match::Key key = {};
    std::uint64_t stamp = 0;
    std::size_t posted = 0;  // receives of any key, right after it was posted
    std::size_t ahead = 0;
  };

  Lane& lane_;
  const Config& config_;
  match::PostedQueue& posted_;
  const MPI_Count smallest_;
  Last last_;
  Counter level_, total_;
};

/// A message whose RTS has no answer yet.
struct UnansweredRts : ListHook {
  explicit UnansweredRts(SendRequest& r) : request(&r) {}
  SendRequest* request;
  std::uint64_t since = 0;    // no answer to anything on its link since then; 0: from the next look at the clock
  std::uint32_t answers = 0;  // Link::answers at that time
  ashlar_found found = {};
};

/// The sender's side, of one lane: looks for the receives of messages whose RTS stays without an answer, oldest first,
/// and writes them, one at a time.
class PostWriter : public Poller {
 public:
  PostWriter(Lane& lane, const Config& config);
  /// The RTS of `r` has left.
  void watch(SendRequest& r);
  /// It is answered, or over.
  void forget(SendRequest& r);
  /// Messages written to their end.
  const Counter& total() const { return total_; }
  const Counter& bytes() const { return bytes_; }

 private:
  bool look();
  bool write();

  Lane& lane_;
  const Config& config_;
  const MPI_Count smallest_;
  bool polled_ = false;  // in the lane's list
  unsigned rounds_ = 0;
  List<UnansweredRts> waiting_;
  UnansweredRts* writing_ = nullptr;
  std::uint64_t last_look_ = 0;
  std::uint64_t nap_ = 0;  // how long a wait may sleep after a look in vain
  Counter total_, bytes_;
  Slab<UnansweredRts> memory_;  // one for each send at most: p2p.request_limit
};

}  // namespace ashlar::p2p

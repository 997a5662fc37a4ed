#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "framework/plugin/transport.h"

/// A transport between "processes" inside one test: queues in memory, with faults injected from a seed. One thread may
/// drive all of them, or each its own.
namespace ashlar::test {

struct LoopOptions {
  unsigned seed = 1;
  std::uint32_t max_short = 40;
  std::uint32_t max_bcopy = 1024;
  std::size_t room = 64;   // packets from one process to another before AGAIN
  double again = 0;        // chance of AGAIN although there is room
  double delay = 0;        // chance that a progress call leaves a sender's packets for later
  bool get = true;         // endpoints can read the peer's memory
  double get_pending = 0;  // chance that a read completes in a later progress call
  double get_fails = 0;
  bool proves_get_late = false;  // get() is offered but always fails
  bool posts = false;            // receives posted in shared memory
  double write_lasts = 0;        // chance that such a write is under way until the next call
  double write_fails = 0;
  // Remote writes and atomic operations.
  bool put = false;
  std::uint32_t put_completion = ASHLAR_PUT_AT_DONE;  // AT_FLUSH: the bytes may come as late as the flush
  double put_pending = 0;                             // chance that they complete in a later progress call
  double put_fails = 0;
  bool flush = false;
  std::uint32_t pieces_most = 0;
  bool amo = false;
  std::uint32_t amo_coherent = 1;
  std::uint32_t amo_ops = 63;  // of each width
  // Messages that the network matches.
  bool tags = false;
  double claim_lasts = 0;    // chance that a claim, or a cancellation, is decided in a later progress call
  unsigned lose_tagged = 0;  // of each process this one of its tagged messages, counted from 1, is lost
};

class LoopNetwork;

/// What a put, an atomic operation or a flush still has to do.
struct LoopRemote {
  std::uint32_t peer = 0;
  std::function<void()> act;          // on the peer's memory; empty: it has, or there is nothing to do
  ashlar_completion* done = nullptr;  // nullptr: it has been called
  ashlar_result result = ASHLAR_OK;
  bool in_order = false;  // an atomic operation: after those before it
  bool flushes = false;   // when all before it have acted
};

/// A message that has met no receive.
struct LoopTagged {
  std::uint32_t from = 0;
  std::uint64_t tag = 0, immediate = 0;
  std::vector<std::byte> data;
};

/// A tagged receive, or a claim, which has no memory and may be of any process.
struct LoopTagReceive {
  ashlar_tag_receive* receive;
  bool any;
  std::uint32_t from;
  std::uint64_t tag, ignored;
  void* to;
  std::uint32_t length;
};

struct LoopIface : ashlar_iface {
  LoopNetwork* network = nullptr;
  std::uint32_t self = 0;
  bool only_self = false;
  void* lane = nullptr;  // as deliver() and failed() take it
  void (*deliver)(void*, const ashlar_am*) = nullptr;
  void (*failed)(void*, std::uint32_t, const char*) = nullptr;
  std::deque<std::pair<ashlar_completion*, ashlar_result>> reads;  // complete in the next progress call
  std::deque<LoopRemote> remotes;                                  // in the order of the calls
  std::uint64_t puts = 0, amos = 0, flushes = 0;
  std::set<std::uint32_t> deaths_told;
  std::deque<LoopTagged> untaken;
  std::deque<LoopTagReceive> tag_receives, claims;
  std::deque<ashlar_tag_receive*> cancelled;
  unsigned tagged = 0;  // messages sent
  std::uint64_t exposed = 0, unexposed = 0, gets = 0, agains = 0;
  std::mt19937 random;
};

struct LoopEndpoint : ashlar_endpoint {
  LoopIface* iface = nullptr;
};

class LoopNetwork {
 public:
  LoopNetwork(std::uint32_t processes, const LoopOptions& options);

  /// The interface of `process`: to the others, or to itself only.
  LoopIface* iface(std::uint32_t process, bool only_self);
  ashlar_endpoint* connect(LoopIface& from, std::uint32_t to);
  /// From now on `process` neither sends nor receives; the others get the report.
  void kill(std::uint32_t process);
  std::size_t in_flight();
  const LoopOptions options;

  // Used by the functions of the table.
  struct Packet {
    std::uint8_t id;
    std::uint64_t h0, h1;
    std::vector<std::byte> data;
    bool tagged = false;  // h0, h1: its tag and its immediate data
  };
  struct Head {
    std::uint8_t id;
    std::uint64_t h0, h1;
  };
  struct Channel {
    std::mutex mutex;
    std::deque<Packet> packets;
    std::vector<Head> sent;  // every message ever sent, where receives are posted in shared memory
    std::size_t delivered = 0;
  };
  /// From `owner` to `sender`; number k is the k-th.
  struct Post {
    std::uint32_t owner, sender;
    ashlar_posted what;
    std::size_t seen;
    enum { kOpen, kWriting, kAsked, kStopped, kGone } state = kOpen;
    std::uint64_t written = 0;
  };
  std::mutex posts_mutex;
  std::vector<Post> posts;
  std::uint64_t writes = 0, asked = 0, taken_half = 0;
  Channel& channel(std::uint32_t from, std::uint32_t to) { return channels_[from * processes_ + to]; }
  std::uint32_t processes() const { return processes_; }
  bool dead(std::uint32_t process);

 private:
  const std::uint32_t processes_;
  std::vector<Channel> channels_;
  std::vector<std::unique_ptr<LoopIface>> ifaces_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<LoopEndpoint>> endpoints_;
  std::set<std::uint32_t> dead_;
};

/// Puts a message on its way.
ashlar_result send(LoopEndpoint& endpoint, LoopNetwork::Packet&& packet);
/// Whether the network takes no message to that process now.
bool no_room(LoopEndpoint& endpoint);

}  // namespace ashlar::test

#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/base/slab.h"
#include "framework/match/queues.h"
#include "framework/p2p/operation.h"
#include "framework/progress/gate.h"
#include "framework/progress/lane.h"

/// Messages that the network matches by their tags (ashlar_tag_ops), between processes whose endpoints to each other
/// can do that. An eager message is a tagged one. A message sent by rendezvous is announced: a frame with its RTS, and
/// a tagged message without bytes, which is matched in its place.
///
/// A receive is posted to the network or filed with the kernel, never both. Those from any source, those that the
/// network has no room for, and probes are the kernel's; from then on until none of them waits any more, further
/// receives are filed with the kernel as well, and all that the network has is claimed: it takes the way of messages
/// that arrive. What was claimed is older than what the network still has, and receives look there first.
namespace ashlar::p2p {

/// What a tagged message counts as while nothing has taken it: its bytes, and what a network keeps beside them.
std::uint64_t weight_of_tagged(std::uint64_t bytes);

/// How tags are made of envelopes: kind, context, tag. The immediate data are the source and the lower word of h1.
struct TagLayout {
  static constexpr unsigned kTagBits = 31, kKindBits = 2, kSourceBits = 16;
  static constexpr int kRanksMost = 1 << kSourceBits;
  enum Kind : std::uint64_t { kWhole = 0, kAnnounced = 1 };

  unsigned bits = 0;  // of the network's tags

  std::uint64_t kinds() const { return std::uint64_t{(1u << kKindBits) - 1} << (bits - kKindBits); }
  std::uint64_t all() const { return ~std::uint64_t{0} >> (64 - bits); }
  std::uint64_t make(std::uint32_t context, Tag tag, Kind kind) const {
    return kind << (bits - kKindBits) | std::uint64_t{context} << kTagBits | static_cast<std::uint32_t>(tag);
  }
  Kind kind(std::uint64_t tag) const { return static_cast<Kind>(tag >> (bits - kKindBits)); }
  std::uint32_t context(std::uint64_t tag) const { return static_cast<std::uint32_t>((tag & ~kinds()) >> kTagBits); }
  static Tag tag(std::uint64_t tag) { return static_cast<Tag>(tag & ((std::uint64_t{1} << kTagBits) - 1)); }
  bool fits(std::uint32_t context) const { return context >> (bits - kKindBits - kTagBits) == 0; }
};

/// A link whose messages the network matches.
struct NativeLink {
  explicit NativeLink(Link& of) : link(of) {}
  Link& link;
  bool led = false;  // the frame in front of the first tagged message has been sent
  // What this process has sent: tagged messages, their weight, and what the peer has said it took of that.
  std::uint64_t sent = 0, sent_weight = 0, taken_there = 0;
  // What it has taken of the peer, and what it has told of that.
  std::uint64_t taken = 0, taken_weight = 0, told_weight = 0;
  // Whether something was lost: asked at (ns), how many the peer has sent then, and since when fewer were here.
  // Since then so many rounds of claims have found nothing.
  std::uint64_t asked_at = 0, owed = 0, owed_since = 0;
  std::uint32_t searched = 0;
};

/// A receive that the network has.
struct NativeReceive : ashlar_tag_receive, match::Node, ListHook {  // hook: all of the lane
  RecvRequest* request = nullptr;
  NativeLink* link = nullptr;
  void* bounce = nullptr;  // where its bytes go that are not dense in the user's memory
  std::uint64_t since = 0;
  bool ending = false;  // by `outcome`, once the network has given it back
  Status outcome;
};

class NativeMatching : public Poller {
 public:
  NativeMatching(Lane& lane, ashlar_iface& iface, const ashlar_iface_attributes& attributes);

  /// Decides for a link that was just connected; returns why it is not native, or "".
  const char* judge(Link& link);
  /// Whether messages of one of the communicator's contexts go this way: on every member alike.
  bool carries(const Comm& comm, std::uint32_t context) const {
    return layout_.fits(context) && comm.size <= TagLayout::kRanksMost && comm.remote_size <= TagLayout::kRanksMost;
  }

  // --- receives (native_receive.cc) ---
  /// Whether the network has taken the receive, or it is over. False: it is to be filed with the kernel.
  bool take(RecvRequest& r);
  static bool has(const RecvRequest& r) { return !r.filed() && place(r) != nullptr; }
  /// MPI_Cancel: it completes when the network has given it back, or with its message.
  void cancel(RecvRequest& r);
  /// The same; it then ends with `outcome`.
  void end(RecvRequest& r, Status outcome);
  template <class Visit>
  void each(Visit visit) {
    for (auto at = posted_.begin(); at != posted_.end();) {
      NativeReceive& receive = *at;
      ++at;  // it may end in the visit
      visit(*receive.request);
    }
  }
  void peer_failed(Lane& lane, PeerId peer);

  // --- claims (native_claim.cc) ---
  /// A call waits for a message to come into the kernel's queue, or looks once.
  void begin_probe() { ++probes_, file_here(); }
  void end_probe() { --probes_; }
  void look_for_messages() { file_here(); }
  /// All that the network has of now is to be claimed.
  void sweep();
  /// False: a round of claims that began with an earlier call is not over.
  bool has_swept();
  /// kCancel and kRecall: what they name may still be in the network. True: kept until that is claimed.
  bool postpone(const ashlar_am& am);
  /// What the network has of a communicator that was freed is given up.
  void drop_context(std::uint32_t context);
  /// A message of a native link has arrived that the network should have matched.
  bool is_astray(const ashlar_am& am) const;

  // --- sends (native_send.cc) ---
  /// Whether a message may leave whole now; else it is announced.
  bool takes_whole(const Link& link, MPI_Count bytes) const;
  ashlar_result send(Link& link, std::uint64_t h0, std::uint64_t h1, const DataView& data, std::uint32_t bytes);
  ashlar_result announce(Link& link, std::uint64_t h0, std::uint64_t h1, const void* rts, std::uint32_t length);

  // --- handlers ---
  void on_rts(Lane& lane, const ashlar_am& am);
  void on_taken(const ashlar_am& am);
  void on_ask(Lane& lane, const ashlar_am& am);
  void on_sent(const ashlar_am& am);

 private:
  struct KeptRts {
    std::uint32_t length = 0;
    std::byte data[sizeof(Rts)];
  };
  template <class T>
  struct Postponed {
    T what;
    bool begun = false;  // the round of claims that decides
  };
  /// Of a receive that the network has: where the kernel's table would have its neighbour.
  static match::Node*& place(RecvRequest& r) { return static_cast<match::Node&>(r).previous; }
  static match::Node* place(const RecvRequest& r) { return static_cast<const match::Node&>(r).previous; }
  using Name = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;  // peer, h0, h1

  // native_receive.cc
  bool file();  // the kernel matches the receive: false
  void over(NativeReceive& receive, const ashlar_tag_event& event);
  void land(NativeReceive& receive, RecvRequest& r, const ashlar_tag_event& event);
  void accept_announced(RecvRequest& r, const Name& name);
  void put(NativeReceive& receive);
  ashlar_am envelope_of(const ashlar_tag_event& event) const;

  // native_claim.cc
  bool look();
  void file_here();
  bool has_to_file() const;
  bool claim();
  void claimed(const ashlar_tag_event& event);
  void deliver(const ashlar_am& am);
  void swept();
  void decide_postponed();
  void count_taken(NativeLink& link, std::uint64_t bytes, bool tell);
  NativeLink* link_of(PeerId peer) const;
  void watch_for_loss(std::uint64_t now);

  Lane& lane_;
  ashlar_iface& iface_;
  const ashlar_tag_ops& tags_;
  const std::uint32_t most_;
  TagLayout layout_;
  std::vector<std::unique_ptr<NativeLink>> links_;
  List<NativeReceive> posted_;
  Slab<NativeReceive> receives_;

  struct Claim : ashlar_tag_receive {
    NativeMatching* of = nullptr;
    bool under_way = false;
  } claim_;
  bool file_here_ = false;   // receives are the kernel's, and what the network has is claimed
  bool again_ = false;       // a further round of claims, to its end, was requested
  bool found_ = false;       // in this round of the poller
  bool delivering_ = false;  // a claimed message is just being delivered
  unsigned probes_ = 0;
  bool sweeping_ = false, swept_ = false;  // has_swept()
  std::deque<Postponed<ashlar_am>> postponed_;
  struct Dropped {
    std::uint32_t context;
    std::uint64_t taken;  // ProcessState::contexts_taken then
  };
  std::deque<Postponed<Dropped>> dropped_;
  // RTS of announced messages that nothing has matched yet; matched ones whose RTS is still to come; a claimed one.
  std::multimap<Name, KeptRts> announced_;
  std::multimap<Name, RecvRequest*> matched_;
  bool held_ = false;
  Name held_name_ = {};
  std::uint64_t next_watch_ = 0, look_again_ = 0;
};

}  // namespace ashlar::p2p

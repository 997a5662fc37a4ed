#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "components/transport/common/counters.h"
#include "components/transport/common/endpoint.h"
#include "components/transport/common/rails.h"
#include "components/transport/common/wire.h"
#include "framework/plugin/stripes.h"

namespace ashlar::network {

struct StripedRead;

/// A part of a large read that the library has, or that waits for room there.
struct Stripe : ashlar_completion {
  class StripedReads* all = nullptr;
  StripedRead* read = nullptr;
  std::uint8_t rail = 0;
  plugin::Range range = {};
  bool late = false;  // its bytes were asked for over another rail; those that it brings are the same
  Transfer* transfer = nullptr;
  std::shared_ptr<const Landing> landing;  // that it is read into; nullptr: the user's memory
};

/// A large read. It is over when all its bytes are there and no stripe is under way any more that the library writes to
/// the user's memory. Where that may last, as the way of the stripe is dead and the library does not notice it, stripes
/// land in memory of ours.
struct StripedRead {
  std::uint64_t number;
  std::byte* to;
  Key key;
  std::uint64_t offset, length;
  std::uint64_t missing;  // bytes that have not come
  bool answered = false;  // the owner has told its rails
  plugin::UnaskedRanges unasked;
  ashlar_completion* done;
  ashlar_result result = ASHLAR_OK;
  std::vector<std::unique_ptr<Stripe>> stripes = {};
  /// Of each rail: how the peer's memory is named there, and the memory here.
  struct Way {
    bool known = false;
    RemoteKey there = {};
    std::shared_ptr<const HeldRegion> here = nullptr;
  };
  std::array<Way, kMostRails> ways = {};
};

/// Large reads from one peer, in stripes over the first fabric and over rails.
///
///   a rail:  kUnknown --offer--> kProbing --the peer's nonce--> kGood
///               ^                    |                            |
///               +------ pause -------+---------- kLost <----------+  an error, or it stalls
///
/// A short first stripe goes over the first fabric at once, and the owner of the memory is asked for its rails
/// meanwhile; further stripes follow its answer, or the first one. A rail that is new, or was lost, reads the nonce of
/// the peer's interface before stripes take it.
class StripedReads {
 public:
  StripedReads(Interface& iface, Endpoint& peer);
  /// What is under way goes on without being told.
  ~StripedReads();
  StripedReads(const StripedReads&) = delete;
  StripedReads& operator=(const StripedReads&) = delete;

  /// Takes a read. False: it goes over the first fabric as a whole.
  bool read(void* to, const Key& key, std::uint64_t offset, std::uint64_t length, ashlar_completion* done);
  /// The peer's answer.
  void offered(const RailsOffered& head, std::span<const RailOffer> offers);
  /// Why a transfer over a rail has failed, before its completion is called.
  void note(const std::string& reason) { reason_ = reason; }

  /// Of all rails together, as measured: bytes per ns; 0: they have not been.
  double speed() const;

  /// What is due over a rail that has stalled is asked for over others.
  void tick(std::uint64_t now);
  /// Asks for nothing more: each read ends with `result`, after the last of its stripes.
  void stop(ashlar_result result);
  /// Reads nothing more; returns the completions of those that were under way.
  std::vector<ashlar_completion*> give_up();
  /// Tells of reads that are over. Their users may disconnect the peer.
  static void tell_ended(Endpoint& peer);

 private:
  enum class State { kUnknown, kProbing, kGood, kLost };
  struct Rail;
  struct Probe : ashlar_completion {
    StripedReads* all = nullptr;
    std::uint8_t rail = 0;
    Transfer* transfer = nullptr;  // nullptr: there is none
  };
  struct Rail {
    State state = State::kUnknown;
    RailOffer offer = {};
    Path at = kNoPath;
    Probe probe;
    std::shared_ptr<const Landing> nonce;  // that it reads
    std::uint64_t pause_ends = 0;
    Pauses pauses;
    plugin::RailMeter meter;
  };
  std::uint8_t last() const;
  bool is_open(const StripedRead& read, std::uint8_t rail) const;
  void pump();
  void ask(StripedRead& read, std::uint8_t rail, std::uint64_t length);
  bool hold(StripedRead& read, std::uint8_t rail);
  void stripe_over(Stripe& stripe, ashlar_result result);
  void fail(StripedRead& read, ashlar_result result);
  void put_back(StripedRead& read, const plugin::Range& range);
  void ask_for_rails(const StripedRead& read, std::uint64_t now);
  void take(std::uint8_t rail, const RailOffer& offer, StripedRead* read, std::uint64_t now);
  void give_up_stalled(std::uint8_t rail);
  void probe(std::uint8_t rail, std::uint64_t now);
  void probe_over(std::uint8_t rail, bool good);
  void lose(std::uint8_t rail, std::uint64_t now);
  void tell_loss(std::uint8_t rail, const std::string& what);
  void tell_shares();
  std::string describe(std::uint8_t rail) const;

  Interface& iface_;
  Endpoint& peer_;
  std::array<Rail, kMostRails> rails_;  // by number; the first fabric is 0
  std::deque<std::unique_ptr<StripedRead>> reads_;
  std::uint64_t unasked_ = 0;  // bytes of all reads
  std::uint64_t last_number_ = 0, asked_at_ = 0;
  unsigned unanswered_ = 0;
  bool none_ = false;  // the peer has no rails
  bool told_ = false;
  std::string reason_;
};

}  // namespace ashlar::network

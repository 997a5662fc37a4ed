#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "components/transport/common/config.h"
#include "components/transport/common/counters.h"
#include "components/transport/common/endpoint.h"
#include "components/transport/common/registrations.h"

namespace ashlar::network {

/// Pauses before something that has failed is tried again, each twice as long as the one before, up to a longest one.
class Pauses {
 public:
  std::uint64_t next() {
    const std::uint64_t pause = kFirst << doublings_;
    if (doublings_ < kMostDoublings) ++doublings_;
    return pause;
  }
  void reset() { doublings_ = 0; }

 private:
  static constexpr std::uint64_t kFirst = 200'000'000;
  static constexpr unsigned kMostDoublings = 4;

  unsigned doublings_ = 0;
};

/// Memory of ours for a stripe.
struct Landing {
  std::unique_ptr<std::byte[]> bytes;
  std::uint64_t length = 0;
  std::unique_ptr<HeldRegion> known;  // where the library has to know the memory
};

/// The further fabrics of an interface, numbered from 1 on. Each is opened when the first large message is read over
/// rails, here or by a peer, and closed with the interface: not all libraries survive that with transfers under way, so
/// no rail is closed for being dead.
class Rails {
 public:
  Rails(const ashlar_host& host, const Config& config, const ashlar_transport_context& context, Counters& counters)
      : host_(host), config_(config), context_(context), counters_(counters) {}
  ~Rails();
  Rails(const Rails&) = delete;
  Rails& operator=(const Rails&) = delete;

  /// Those of the interface's first fabric, which is open. `nonce`: the interface's, which stands in memory that peers
  /// may read over each rail.
  void begin(Fabric& first, const Place& place, std::uint64_t nonce, Fabric::Events& events);
  std::uint8_t last() const { return static_cast<std::uint8_t>(rails_.size()); }
  bool is_open(std::uint8_t number) const { return rails_[number - 1u].fabric != nullptr; }
  Fabric& fabric(std::uint8_t number) { return *rails_[number - 1u].fabric; }
  Registrations& memory(std::uint8_t number) { return *rails_[number - 1u].memory; }

  /// Opens the rail if it is not open, and may be opened again. False: it is not open.
  bool open(std::uint8_t number, std::uint64_t now);
  /// Ends the rail's endpoint: the library has none of its transfers any more. False: it would not survive that, as it
  /// has some that do not end; the rail is left to it with all that they need, up to the end of the process, and is not
  /// open here any more.
  bool close(std::uint8_t number);
  /// Memory of at least so many bytes that the rail's library knows; it goes back with its last user, before the rails
  /// end. nullptr: there is none.
  std::shared_ptr<const Landing> landing(std::uint8_t number, std::uint64_t bytes);

  /// What a peer needs to read `region`, which the rail's memory() has, from `memory` on. False: the rail's address is
  /// longer than an offer takes.
  bool offer(std::uint8_t number, const Region& region, const void* memory, RailOffer* out) const;

  /// Gives the library a transfer, now or when it has room. False: it takes none; the transfer is still the caller's.
  bool post(Transfer& transfer, Path to);
  /// One that the library had is over.
  void ended(std::uint8_t number);
  /// Those to the peer that wait for room, of which nothing here knows any more.
  std::vector<Transfer*> take_waiting(const Endpoint& peer);

  /// Memory of this process is known to be read over a rail, or is no more.
  void exposed(bool now);
  /// A peer is about to look whether a rail leads here.
  void expect(std::uint64_t now);
  /// Whether something is under way here or may come. While it is not, nothing looks but the clock.
  bool awake() const { return awake_; }
  unsigned look(std::uint64_t now);
  /// Before the process sleeps on `epoll`, where arrivals over rails are to wake it if something may come. False:
  /// something has come, or the library does not allow it.
  bool may_sleep(int epoll);
  /// Rails do not wake a process that sleeps on `epoll`.
  void mute(int epoll);
  void give_up_freed();

 private:
  struct Rail {
    std::unique_ptr<Fabric> fabric;  // nullptr: it is not open
    std::unique_ptr<Registrations> memory;
    std::vector<std::uint8_t> address;
    std::unique_ptr<HeldRegion> nonce;
    std::deque<std::pair<Transfer*, Path>> waiting;  // the library had no room
    std::uint64_t under_way = 0;
    std::vector<std::unique_ptr<Landing>> landings;  // that nothing uses
    std::uint64_t open_from = 0;
    Pauses pauses;
    bool watched = false, wakes = false;
  };

  bool start(Rail& rail, std::uint8_t number);
  void hear(Rail& rail, int epoll, bool on);

  const ashlar_host& host_;
  const Config& config_;
  const ashlar_transport_context& context_;
  Counters& counters_;
  Fabric* first_ = nullptr;
  Fabric::Events* events_ = nullptr;
  Place place_;
  std::uint64_t nonce_ = 0;
  std::vector<Rail> rails_;
  std::uint64_t exposed_ = 0;      // memory that peers may read over rails
  std::uint64_t busy_ = 0;         // transfers that the library has, or that wait
  std::uint64_t awake_until_ = 0;  // though there is neither
  bool awake_ = false;
};

}  // namespace ashlar::network

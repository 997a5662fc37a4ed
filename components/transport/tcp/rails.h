#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/endpoint.h"
#include "components/transport/tcp/rail_dial.h"
#include "framework/plugin/stripes.h"

namespace ashlar::tcp {

/// A large message that is being read in stripes. Each stripe is a get of its own, with a number of its own: bytes that
/// come late, for a stripe that has been asked for again over another rail, belong to no get any more and are dropped.
struct StripedGet {
  std::byte* to;
  std::uint64_t region, offset;
  std::uint64_t missing;  // bytes that have not come
  plugin::UnaskedRanges unasked;
  ashlar_completion* done;
};

/// The connections to one peer over which this process reads large messages from it: the first one, which carries the
/// messages as well, and one more for each further pair of interfaces, made when the first large message is read. The
/// peer has rails of its own for what it reads.
class Rails {
 public:
  Rails(Interface& iface, Endpoint& peer);
  ~Rails();
  Rails(const Rails&) = delete;
  Rails& operator=(const Rails&) = delete;

  /// Reads a message in stripes, and calls `done` when it is there. False: there are no rails, and no dial is
  /// under way.
  bool read(std::byte* to, std::uint64_t region, std::uint64_t offset, std::uint64_t length, ashlar_completion* done);
  bool reading() const { return !reads_.empty(); }
  /// Of all rails together, as measured: bytes per ns; 0: they have not been.
  double speed() const;

  /// A stripe has come, or the peer does not let it be read.
  void stripe_over(std::uint64_t request, bool good);
  /// Something came over it.
  void heard(const Connection& over);
  /// The peer's first connection is over: what was asked for there is asked for again.
  void first_lost();
  /// What was asked for over it goes to others, if there are any.
  void go_on() { pump(); }
  /// There is another one.
  void first_back();
  /// A further one is over. `reason`: "" when it was closed in order.
  void lost(Connection& over, const std::string& reason);
  /// The further connections are closed, and a dial that is under way is given up.
  void close();
  /// Nothing is read any more; what was being read fails, if it is to be `told`.
  void end(bool told);
  void tick(std::uint64_t now);

  // For the dial.
  /// Whether the peer's interface carries a rail or the first connection.
  bool uses_peer_card(std::uint8_t card) const;
  /// Why a connection to that interface of the peer is no rail; "": it may be one.
  std::string reason_against(int socket, std::uint8_t peer_card) const;
  /// The connection is a rail from now on.
  void add(Descriptor socket, std::uint8_t peer_card);
  void dial_over(const std::string& reasons);

 private:
  struct Rail {
    Connection* connection = nullptr;  // of the first rail: nullptr while there is none
    std::uint8_t own_card = 0, peer_card = 0;
    std::uint8_t number = 0;  // of its performance variable
    bool stalled = false;     // what was due over it was asked for over others; nothing has come since
    plugin::RailMeter meter;
  };

  bool is_open(const Rail& rail) const;
  Rail* rail_of(const Connection* over);
  void pump();
  void ask(Rail& rail, StripedGet& read, const plugin::Range& range);
  void count(Rail& rail, std::uint64_t bytes);
  void put_back(Rail& rail);
  void finish(StripedGet& read, bool good);
  bool has_stalled(const Rail& rail, std::uint64_t now) const;

  // rails_connect.cc
  void note_first();
  void call_if_due(std::uint64_t now);
  void drop(std::size_t index);
  std::string describe(const Rail& rail) const;
  void tell(const std::string& because);
  void tell_loss(const Rail& rail, const std::string& what);
  void tell_shares();

  Interface& iface_;
  Endpoint& peer_;
  std::vector<Rail> rails_;  // the first connection's, then those of rails in the order in which they were made
  std::deque<std::unique_ptr<StripedGet>> reads_;
  std::uint64_t unasked_ = 0;  // bytes of all reads
  std::unique_ptr<RailDial> dial_;
  std::uint64_t next_call_ = 0;
  unsigned calls_in_vain_ = 0;
  std::string reasons_;  // why there are no more
  bool told_ = false;
};

}  // namespace ashlar::tcp

#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "components/transport/tcp/connection.h"
#include "components/transport/tcp/counters.h"
#include "components/transport/tcp/dial.h"
#include "components/transport/tcp/door.h"
#include "components/transport/tcp/guest.h"
#include "components/transport/tcp/rails.h"
#include "framework/plugin/look_pace.h"
#include "framework/plugin/transport_identity.h"

namespace ashlar::tcp {

/// Why a peer is given up that has another count of the messages between the two.
inline constexpr char kOtherCount[] = "it counts the messages otherwise than this process";

/// One lane's connections to other processes. Every function is called under the lane's lock.
class Interface : public ashlar_iface {
 public:
  using Config = tcp::Config;
  static constexpr const char* kWhat = "the TCP transport";
  static void introduce(const ashlar_host& host) { show(host, nullptr); }

  Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context);
  ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  ashlar_result open();
  ashlar_result write_address(void* out, std::uint32_t* length) const;
  ashlar_result connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out);
  void disconnect(Endpoint& peer);
  /// The number means nothing any more: what the process still sends is dropped.
  void forget(std::uint32_t number);
  void process_ended(Endpoint& peer, const char* how) { fail(peer, how); }
  unsigned progress();
  ashlar_result expose(const void* address, std::uint64_t length, int kind, ashlar_key* out);
  void unexpose(const ashlar_key& key);
  ashlar_result arm();
  void disarm() { pace_.heat(); }
  int wake_fd() const { return epoll_.get(); }
  bool idle() const;

  // For endpoints, connections, dials and guests.
  const ashlar_host& host() const { return host_; }
  const Config& config() const { return config_; }
  /// transport.tcp.in_flight, or what is used where it is 0.
  std::uint64_t in_flight() const { return in_flight_; }
  /// transport.tcp.get_chunk; 0: by the path.
  std::uint64_t get_chunk() const { return get_chunk_; }
  std::uint64_t nonce() const { return address_.nonce; }
  const Secret& secret() const { return address_.secret; }
  void expect_answer() { pace_.expect(); }
  /// Time is left to what arrives to become more, before the next look.
  void pause(std::uint64_t ns) { pace_.pause(ns); }
  std::uint64_t clock() const { return pace_.clock(); }  // of the last look
  std::uint32_t round() const { return pace_.round(); }  // of progress
  std::vector<std::byte>& scratch(std::size_t bytes);
  void watch(Watched& socket, std::uint32_t events);
  void unwatch(Watched& socket);
  void bury(std::unique_ptr<Watched> socket);
  /// In the next round of progress.
  void flush_later(Connection& connection);
  /// At the end of this look.
  void tick_soon() { next_tick_ = 0; }

  // interface_connect.cc: peers, and which connection to each is kept.
  /// To the interface with this nonce.
  Hello hello_to(std::uint64_t target) const;
  std::uint32_t exchange_with(const SocketAddress& to) const;
  std::vector<SocketAddress> ways_to(const Address& address) const {
    return ip::ways_to(address.candidates, address.port, address.host == host_here(), own_);
  }
  /// The kernel's number of the process; ASHLAR_NOBODY: it does not know it, or not any more.
  std::uint32_t number_of(const Caller& caller) const { return plugin::number_of(context_, caller.job, caller.rank); }
  Verdict verdict_on(const Hello& hello);
  bool has_guest_of(std::uint64_t nonce) const;
  void path_proved(const SocketAddress& to) { proved_.insert(to.text(false)); }
  std::string interface_of(const SocketAddress& own) const;
  std::unique_ptr<Outbox> make_outbox() {
    return std::make_unique<Outbox>(blocks_, Outbox::Levels{.waiting = counters.buffered, .kept = counters.kept});
  }
  void tell_path(Endpoint& peer, int socket, unsigned tried, std::uint64_t ns, const std::string& lost);
  void tell_flight(Endpoint& peer, const Flight& flight);
  /// The way to the process whose interface has this nonce, or nullptr.
  Endpoint* find(std::uint64_t nonce);
  void need_connection(Endpoint& peer);
  void adopt(Endpoint& peer, Descriptor socket, bool dialled, const Standing& theirs);
  Standing standing_with(std::uint64_t nonce) const;
  std::uint64_t messages_to_skip(Endpoint& peer, std::uint64_t next);

  // interface_strangers.cc: connections that have not proved themselves.
  bool chosen(Guest& guest, const Hello& hello, const Standing& theirs);
  bool pass_on(Guest& guest, const Hello& hello);
  void dismiss(Guest& guest);
  void room_for_strangers();

  // interface_rails.cc: further connections to a peer, for large messages.
  bool may_have_rails(const Address& address) const;
  Rails& rails_to(Endpoint& peer);
  /// The number of the network interface that has the address; 0: none has it.
  std::uint8_t card_of(const SocketAddress& own) const;
  bool has_room_for_rail() const { return counters.connections.now.get() < limit_; }
  Verdict verdict_on_rail(const Hello& hello);
  bool rail_chosen(Guest& guest, const Hello& hello);
  Connection& add_rail(Endpoint& peer, Descriptor socket, bool dialled);
  void close_rails(Endpoint& peer);

  // interface_ends.cc: how connections end.
  /// Closes the connection without a word to the peer.
  void remove(Connection& connection);
  void take_leave(Connection& connection, bool for_good);
  void disagree(Connection& connection);
  void ended(Connection& connection, const std::string& reason);
  void give_up(Endpoint& peer, bool refused);
  void close_idle();

  /// Bytes of it have come.
  void heard(Connection& connection);
  /// The sender may wait to hear that bytes have come before it sends more. What is sent to it meanwhile says so, too;
  /// else the system says it before this process sleeps, or a little later.
  void acknowledge_later(Connection& connection);

  // Gets.
  void deliver(Endpoint& peer, const Frame& frame, const std::byte* data);
  const std::byte* exposed(std::uint64_t region, std::uint64_t offset, std::uint64_t length) const;
  void ask(Endpoint& peer, std::uint64_t request);
  void refuse_get(Connection& over, std::uint64_t request);
  void end_get(Endpoint& peer, std::uint64_t request, bool good);
  ashlar_result get_failed(const Endpoint& peer) const;

  Counters counters;

 private:
  struct Region {
    const std::byte* at;
    std::uint64_t length;
  };

  unsigned look();
  bool looks_at_one();
  unsigned look_at_all();
  void acknowledge();
  void tick();
  void accept_guests();
  void take_visitors();
  bool on_allowed_address(int socket) const;
  Endpoint& endpoint_of(std::uint64_t nonce, std::uint32_t number);
  void discard(Endpoint& peer);
  void broke(Endpoint& peer, const SocketAddress& at, const std::string& reason);
  void tell_resumed(Endpoint& peer, int socket);
  void fail(Endpoint& peer, const std::string& reason);
  void set_door(bool open);

  const ashlar_host& host_;
  const Config& config_;
  const ashlar_transport_context context_;
  Descriptor epoll_;
  plugin::LookPace pace_;
  struct {
    Connection* connection = nullptr;  // of the last arrival
    unsigned in_a_row = 0;             // arrivals before it that were its own
  } only_;
  std::uint64_t next_tick_ = 0;
  std::vector<Connection*> to_flush_;
  std::vector<Connection*> owing_;
  std::uint64_t owing_until_ = 0;  // by the clock

  std::shared_ptr<Door> door_;
  Inbox inbox_;
  Address address_;
  Interfaces wanted_;
  std::vector<OwnAddress> own_;
  bool door_open_ = false;
  std::uint64_t limit_ = 0;  // of connections
  const std::uint64_t in_flight_;
  std::uint64_t get_chunk_;

  BlockPool blocks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Endpoint>> peers_;  // by nonce
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<std::unique_ptr<Watched>> graveyard_;
  std::set<std::string> proved_;  // addresses over which a full exchange went
  std::unordered_map<std::uint64_t, Region> regions_;
  std::uint64_t next_region_ = 1;
  std::vector<std::byte> scratch_;
};

extern const ashlar_iface_ops kInterfaceOps;

}  // namespace ashlar::tcp

#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "components/transport/shm/address.h"
#include "components/transport/shm/config.h"
#include "components/transport/shm/copies.h"
#include "components/transport/shm/counters.h"
#include "components/transport/shm/door.h"
#include "components/transport/shm/endpoint.h"
#include "components/transport/shm/posts.h"
#include "components/transport/shm/pvars.h"
#include "components/transport/shm/ring.h"
#include "components/transport/shm/segment.h"
#include "components/transport/shm/vectors.h"
#include "components/transport/shm/wake_socket.h"
#include "components/transport/shm/watch.h"
#include "framework/plugin/transport.h"

namespace ashlar::shm {

/// One lane's shared memory transport: the segment others send into, and the endpoints to them.
/// Every function is called under the lane's lock.
class Interface : public ashlar_iface {
 public:
  using Config = shm::Config;
  static constexpr const char* kWhat = "the shared memory transport";
  static void introduce(const ashlar_host& host) { shm::introduce(host); }

  Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context);
  ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  ashlar_result open();
  ashlar_result write_address(void* out, std::uint32_t* length) const;
  ashlar_result connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out);
  void disconnect(Endpoint& ep);
  void forget(std::uint32_t peer);
  unsigned progress();
  ashlar_result expose(const void* address, std::uint64_t length, int kind, ashlar_key* out);
  void unexpose(const ashlar_key& key) { exposed_.unexpose(key); }
  ashlar_result arm();
  void disarm();
  std::uint32_t* wake_word() { return reinterpret_cast<std::uint32_t*>(&own_.header().wake); }
  int wake_fd();
  bool idle() const { return gets_.empty() && vectors_.empty(); }
  void rest(bool resting);

  // For endpoints.
  const ashlar_host& host() const { return host_; }
  std::uint64_t nonce() const { return nonce_; }
  Posts& posts() { return posts_; }
  WakeSocket& wake_socket() { return wake_socket_; }
  /// The ring of `ep` gave no room: makes the ring on first use and tries again; *line stays nullptr with AGAIN or an
  /// error.
  ashlar_result make_room(Endpoint& ep, std::uint32_t lines, Line** line);
  ashlar_result get(Endpoint& ep, void* to, const Key& key, std::uint64_t offset, std::uint64_t length,
                    ashlar_completion* done);
  ashlar_result put(Endpoint& ep, const void* from, const Key& key, std::uint64_t offset, std::uint64_t length,
                    ashlar_completion* done);
  ashlar_result copy_pieces(Endpoint& ep, bool writes, const Key& key, const ashlar_piece* pieces, std::uint32_t count,
                            ashlar_completion* done);
  ashlar_result copy_failed(const Endpoint& ep, int error) const;
  [[gnu::cold]] ashlar_result no_access(const Endpoint& ep, const char* access) const;
  ashlar_result fate(const Endpoint& ep, std::uint32_t ids, std::uint64_t h0, std::uint64_t h1) const;

 private:
  // A process that sends to this one.
  struct Sender {
    Inbound ring;
    Slot* slot;
    std::uint64_t nonce;
    std::uint32_t index, peer;
    std::uint32_t quiet = 0;  // polls without news, when there are many rings
    bool closing = false;
  };

  Geometry geometry() const;

  // interface_connect.cc: reaching peers.
  ashlar_result reach(Endpoint& ep);
  [[gnu::cold]] ashlar_result has_ended(const Endpoint& ep) const;
  ashlar_result request_descriptor(Endpoint& ep, int why_not_directly);
  ashlar_result finish_attach(Endpoint& ep);
  ashlar_result claim_slot(Endpoint& ep);
  void prove_single_copy(Endpoint& ep);
  bool advance_request(Endpoint& ep);
  Endpoint* endpoint_of(std::uint64_t nonce) const;
  void unwatch(std::uint64_t nonce);

  // interface.cc: arrivals.
  unsigned drain(Sender& sender);
  unsigned attend();
  void attend_slot(std::uint32_t index);
  void activate(std::uint32_t index);
  void poll_again(Sender& sender);
  std::uint32_t number_of(const Slot& slot) const;
  void adopt(Sender& sender, std::uint32_t peer);
  void disown(Sender& sender);
  void hear_stranger(Sender& sender);
  unsigned look_at_unpolled();
  void thin_out();
  bool anything_new() const;
  bool any_news() const;

  // interface_upkeep.cc: copies, deaths, leavers.
  unsigned advance();
  unsigned advance_gets();
  unsigned advance_vectors();
  ashlar_result start(const VectorCopy& copy);
  template <class Copy>
  void fail_all(std::deque<Copy>& copies, Endpoint* Copy::*peer, Endpoint& ep);
  void update_busy() { busy_ = !gets_.empty() || !vectors_.empty() || exposed_.wanted() || requesting_ > 0; }
  void upkeep();
  void bury(std::uint64_t nonce);
  void retire(std::uint32_t index);

  const ashlar_host& host_;
  const Config& config_;
  ashlar_transport_context context_;
  Identity identity_;
  std::uint64_t nonce_ = 0;
  bool barriers_ = false;

  // Polled in every progress call.
  std::vector<Sender*> polled_;
  Segment own_;
  bool busy_ = false;
  std::uint32_t idle_calls_ = 0, calls_with_many_ = 0;

  std::vector<Sender*> unpolled_;
  std::size_t next_unpolled_ = 0;
  std::vector<Sender*> strangers_;  // whose processes the kernel does not know: neither polled nor unpolled
  std::vector<std::unique_ptr<Sender>> senders_;  // by slot
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::deque<Get> gets_;     // oldest first
  std::uint64_t slice_ = 0;  // bytes still to be copied in this round of progress
  std::deque<VectorCopy> vectors_;
  std::uint64_t vector_slice_ = 0;  // the same, for these
  Exposed exposed_;
  Posts posts_;
  Watch watch_;
  Door door_;
  WakeSocket wake_socket_;
  std::uint32_t requesting_ = 0;
  std::uint32_t closing_ = 0;
  std::uint64_t next_upkeep_ = 0;
  std::vector<std::uint64_t> dead_;
};

extern const ashlar_iface_ops kInterfaceOps;

}  // namespace ashlar::shm

#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "components/transport/common/config.h"
#include "components/transport/common/counters.h"
#include "components/transport/common/endpoint.h"
#include "components/transport/common/liveness.h"
#include "components/transport/common/rails.h"
#include "components/transport/common/registrations.h"
#include "components/transport/common/tagged.h"
#include "framework/plugin/look_pace.h"

namespace ashlar::network {

/// One lane's endpoint of a network library, and the processes it talks to. Every function is called under the lane's
/// lock.
class Interface : public ashlar_iface, private Fabric::Events {
 public:
  Interface(const ashlar_host& host, const Traits& traits, std::unique_ptr<Fabric> fabric, const Config& config,
            const ashlar_transport_context& context);
  virtual ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  ashlar_result open();
  ashlar_result write_address(void* out, std::uint32_t* length) const;
  ashlar_result connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out);
  void disconnect(Endpoint& peer);
  /// The number means nothing any more: what the process still sends is dropped.
  void forget(std::uint32_t number);
  void process_ended(Endpoint& peer, const char* how) { fail(peer, how, Gone::kYes); }
  unsigned progress();
  ashlar_result expose(const void* address, std::uint64_t length, int kind, ashlar_key* out);
  void unexpose(const ashlar_key& key);
  ashlar_result arm();
  void disarm();
  int wake_fd() const { return wake_.get(); }
  /// Whether all that was sent has left.
  bool idle();

  // For endpoints.
  const ashlar_host& host() const { return host_; }
  /// nullptr: the peer has as much under way as may be.
  Buffer* buffer_for(Endpoint& peer, std::uint32_t length);
  /// A message of `length` bytes, in a buffer that buffer_for() gave for them.
  void send(Endpoint& peer, Buffer& message, std::uint32_t length);
  /// A message of up to max_short bytes. AGAIN: as buffer_for().
  ashlar_result send_short(Endpoint& peer, const Frame& frame, const void* data);
  /// A frame of a protocol of ours, with up to kMaxShort bytes of data; it goes where messages go.
  void control(Endpoint& peer, Kind kind, const void* data = nullptr, std::uint32_t length = 0);
  /// A read of the peer's memory, or a put there, of a byte at least.
  ashlar_result transfer(Operation::What what, Endpoint& peer, void* here, const Key& key, std::uint64_t offset,
                         std::uint64_t length, ashlar_completion* done);
  void attributes(ashlar_iface_attributes* out) const;

  // Tags (interface_tags.cc).
  ashlar_result tag_send(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, ashlar_fill fill, void* argument,
                         std::uint32_t length);
  ashlar_result tag_announce(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, const Frame& frame,
                             const void* data);
  ashlar_result tag_receive(Endpoint& peer, std::uint64_t tag, std::uint64_t ignored, void* to, std::uint32_t length,
                            ashlar_tag_receive* user);
  ashlar_result tag_claim(Endpoint* peer, std::uint64_t tag, std::uint64_t ignored, ashlar_tag_receive* user);
  void tag_cancel(ashlar_tag_receive* user);

  // For reads over rails (interface_rails.cc). `rail` 0: the first fabric.
  const Config& config() const { return config_; }
  Rails& rails() { return rails_; }
  Fabric& fabric(std::uint8_t rail);
  Registrations& memory(std::uint8_t rail);
  /// A transfer over the first fabric.
  void post_later(Transfer& transfer);
  void tell_rails(const Endpoint& peer, const std::string& which, const std::string& because);

  Counters counters;

 private:
  using Posted = Fabric::Posted;

  // interface.cc: rounds of progress.
  void watch_arrivals();
  std::string about_hooks() const;
  void rest();
  void end_rest();
  void hear_library(bool on);
  bool wake_after(long ns);
  void read_timer();
  unsigned look();

  // interface_send.cc
  /// False: the library cannot send there, and Fabric::reason() says why.
  bool flush(Endpoint& peer);
  void flush_all();
  void flush_later(Endpoint& peer);
  bool has_to_send(const Endpoint& peer) const;
  bool may_transfer(const Endpoint& peer) const;
  Posted post(Endpoint& peer, Buffer& buffer);
  Posted post(Endpoint& peer, Transfer& transfer);
  Buffer* frame_to(Endpoint& peer, Kind kind, const void* data, std::uint32_t length);
  void count(Endpoint& peer, const Buffer& buffer);
  void drop(Endpoint& peer, Buffer& buffer);
  void submit(Endpoint& peer, Buffer& buffer);
  bool queues(const Endpoint& peer) const;
  bool inject(Endpoint& peer, const Frame& frame, const void* data);
  ashlar_result collect(Endpoint& peer, const Frame& frame, const void* data);
  void close_batch(Endpoint& peer);
  bool may_buffer(Endpoint& peer, std::uint64_t bytes);

  // interface_arrival.cc: what the library tells.
  bool arrived(const std::byte* bytes, std::size_t length, Buffer* in) override;
  void damaged() override;
  void sent(Buffer& buffer) override;
  void not_sent(Buffer& buffer, const std::string& reason) override;
  void transferred(Transfer& transfer) override;
  void not_transferred(Transfer& transfer, const std::string& reason) override;
  void lost(Endpoint& peer, const std::string& reason) override;
  void tag_ended(TagReceive& receive, Fabric::TagEnd end, std::uint64_t tag, std::uint64_t data,
                 const std::string& reason) override;
  bool arrived_in_session(const std::byte* bytes, std::size_t length, Buffer* in);
  Endpoint* sender_of(const Frame& frame);
  void deliver_next(Endpoint& peer);
  void fail_missing(Endpoint& peer);
  void deliver(const std::byte* bytes, std::size_t length);
  void deliver(const Frame& frame, std::uint32_t length);
  void finish(Transfer& transfer, ashlar_result result);
  void dispose(Transfer& transfer);
  ashlar_result fail_to_register(std::uint64_t bytes);
  void make_room(Endpoint& peer);

  // interface_sessions.cc: who is who, and how sessions begin and end.
  bool greet(Endpoint& peer);
  void greeted(const std::byte* frame, std::size_t bytes);
  void welcomed(const std::byte* frame, std::size_t bytes);
  void tell_path(Endpoint& peer);
  Endpoint& endpoint_of(std::uint64_t nonce, std::uint32_t number);
  /// Whether a peer that is given up has ended.
  enum class Gone { kYes, kPerhaps };
  void fail(Endpoint& peer, const std::string& reason, Gone gone);
  void say_given_up(Endpoint& peer);
  ashlar_result lost(const Endpoint& peer);
  void end_transfers(Endpoint& peer, bool all);
  void leave(Endpoint& peer);
  void forget_last_sender();
  std::vector<ashlar_completion*> give_up_striped(Endpoint& peer);
  void drop_waiting(Endpoint& peer);
  void drop_out_of_order(Endpoint& peer);

  // interface_tags.cc
  std::uint64_t sender_bits(std::uint32_t rank) const;
  std::byte* label(Buffer& buffer, std::uint64_t tag, std::uint64_t immediate, std::uint32_t length,
                   std::uint64_t proof);
  Buffer* tag_buffer(Endpoint& peer, std::uint64_t tag, std::uint64_t immediate, std::uint32_t length);
  TagReceive* new_tag(std::uint64_t tag, std::uint64_t ignored, ashlar_tag_receive* user);
  ashlar_result peek(TagReceive& claim);
  ashlar_result claim_at_once(TagReceive& claim);
  bool ready_to_take(TagReceive& claim);
  ashlar_result post_later(TagReceive& claim);
  void take(TagReceive& claim);
  void go_on(TagReceive& claim);
  void post_waiting();
  void give_up_claims();
  void give_up(TagReceive& receive);
  void give_up_cancelled(const Endpoint& peer);
  bool is_proved(const TagReceive& receive, std::uint64_t tag, ashlar_tag_event* event);
  void end(TagReceive& receive, const ashlar_tag_event& event);
  void dispose(TagReceive& receive);

  // interface_rails.cc
  struct Exposed;
  bool read_striped(Endpoint& peer, void* to, const Key& key, std::uint64_t offset, std::uint64_t length,
                    ashlar_completion* done);
  void rails_wanted(Endpoint& peer, const std::byte* bytes, std::size_t length);
  void rails_offered(Endpoint& peer, const std::byte* bytes, std::size_t length);
  Exposed* find_exposed(const Key& key);
  void leave_rail(std::uint8_t rail, Exposed& exposed);
  void tick_rails();

  // interface_proof.cc
  bool prove();
  /// nullptr: tags do what they are to do; else what does not work.
  const char* prove_tags();
  class TagProof;
  /// Whether arrivals make `epoll` readable, which has the library's descriptor.
  bool prove_wake(int epoll);
  Buffer* trial(std::uint32_t number);
  bool post_to_itself(Buffer& message, std::uint64_t until);

  // interface_upkeep.cc: what the clock brings.
  void tick();
  bool is_unknown(const Endpoint& peer);
  bool remove_paths(Endpoint& peer);
  using Peers = std::unordered_map<std::uint64_t, std::unique_ptr<Endpoint>>;
  Peers::iterator erase(Peers::iterator entry);
  void ask_hosts();
  std::uint64_t asked_apart(const Endpoint& peer) const;
  void settle_all(Endpoint& asked, Liveness::Answer answer);
  void settle(Endpoint& peer, Liveness::Answer answer);

  const ashlar_host& host_;
  const Traits& traits_;
  const std::unique_ptr<Fabric> fabric_;
  const Config& config_;
  const ashlar_transport_context context_;
  plugin::LookPace pace_;
  std::unique_ptr<BufferPool> small_, large_;
  Registrations memory_;
  Rails rails_;
  struct Exposed {
    const void* address;
    std::uint64_t base;  // RemoteKey::base
    Region* region;
    std::uint64_t bytes;
    std::array<Region*, kMostRails - 1> on_rails = {};  // since a peer has asked for it there
  };
  std::multimap<std::array<std::uint8_t, sizeof(RemoteKey::bytes)>, Exposed> exposed_;  // by the name that peers have
  std::vector<Endpoint*> to_flush_;
  List<TagReceive> tags_;             // that the library has
  std::vector<TagReceive*> to_post_;  // claims, and the messages that they have found: there was no room
  std::vector<TagReceive*> taking_;   // claims that are about to receive what they have found
  Path own_path_ = kNoPath;
  Record record_;
  Liveness liveness_;
  std::uint64_t asked_ = 0, asked_at_ = 0;  // of the question: peer's nonce
  std::uint64_t next_tick_ = 0;
  Descriptor wake_, timer_;
  std::uint64_t restless_since_ = 0;  // ns: since then the library has not let the process sleep, nor brought anything
  bool rests_ = false;                // sleeps by the clock alone
  bool by_clock_ = false;             // always does, as arrivals do not wake it
  bool has_looked_ = false;           // since the last sleep
  bool proving_ = false, closing_ = false;
  std::uint32_t proved_ = 0;  // the last trial that has arrived

  Peers peers_;                                               // by nonce
  std::unordered_map<std::uint64_t, Endpoint*> sessions_;     // by token
  std::unordered_map<std::uint64_t, Endpoint*> tag_senders_;  // by tag_proof_in, where tags name senders
  std::uint64_t last_token_ = 0;
  Endpoint* last_sender_ = nullptr;
};

extern const ashlar_iface_ops kInterfaceOps;
extern const ashlar_tag_ops kTagOps;

/// The class that a component makes its interfaces of: the one above, with the component's fabric and parameters.
/// `Component` has Config (with a member `sessions`, a network::Config), Fabric, kTraits and kWhat.
template <class Component>
class InterfaceOf : public Interface {
 public:
  using Config = typename Component::Config;
  static constexpr const char* kWhat = Component::kWhat;
  static void introduce(const ashlar_host& host) { Component::introduce(host); }
  static void take_leave() { Component::take_leave(); }

  InterfaceOf(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
      : Interface(host, Component::kTraits, std::make_unique<typename Component::Fabric>(config), config.sessions,
                  context) {}
};

}  // namespace ashlar::network

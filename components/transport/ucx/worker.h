#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "components/transport/common/buffer.h"
#include "components/transport/common/tagged.h"
#include "components/transport/ucx/config.h"
#include "components/transport/ucx/devices.h"
#include "components/transport/ucx/library.h"

namespace ashlar::ucx {

/// What RemoteKey::bytes holds.
struct PackedKey {
  std::uint8_t length;
  std::uint8_t bytes[19];  // UCX's key, which has 19 with one card; over tcp a secret
  std::uint32_t region;    // the owner's number of it
};
static_assert(sizeof(PackedKey) == sizeof(network::RemoteKey::bytes));

using RegionSecret = std::array<std::uint8_t, 16>;

/// A context and a worker of UCX, both of one lane: lanes share nothing. Frames are active messages of UCX that are
/// never sent by rendezvous, so one worker's arrive in the order of their calls. Cards read memory by themselves. Over
/// tcp, UCX's own reads are messages in small pieces; there the reader asks the owner, which sends the memory in large
/// ones.
class Worker final : public network::Fabric {
 public:
  explicit Worker(const Config& config) : config_(config) {}
  ~Worker() override;

  ashlar_result open(const ashlar_host& host, const network::Place& place, Events& events) override;
  void close() override;
  std::vector<std::uint8_t> address() override;
  const sockaddr* source() const override { return source_ ? &source_->any : nullptr; }

  network::Path insert(const std::vector<std::uint8_t>& address, network::Endpoint* owner) override;
  bool remove(network::Path path) override;
  Posted post(network::Buffer& buffer, network::Path to) override;
  Posted post(network::Transfer& transfer, network::Path peer) override;
  Posted post_tag(network::TagReceive& receive) override;
  Claimed claim(network::TagReceive& receive) override;
  void cancel(network::TagReceive& receive) override;
  bool abandon(network::TagReceive& receive) override;
  bool left(network::Path path) override;
  void make_room() override;
  unsigned look() override;
  void drop(network::Transfer& transfer) override;
  bool abandon(network::Transfer& transfer) override;
  std::string reason() const override { return reason_; }

  int wake_fd() const override { return wake_fd_; }
  bool may_sleep() override;

  // UCX finds by itself what it needs of memory that frames are sent from, and that reads write.
  bool enlist(const void* memory, std::size_t bytes, unsigned uses, network::Registration* out) override;
  void delist(network::Registration& registration) override;
  network::RemoteKey key_of(const network::Registration& registration, const void* memory) const override;
  bool keeps() const override { return !asks_; }

 private:
  // Of the active messages: frames; reads that are asked for, and their answers.
  static constexpr unsigned kMessageId = 1, kAskId = 2, kAnswerId = 3;

  /// The way to one process. Its endpoint is made with the first message, and made again after UCX has given it up.
  struct Peer {
    std::vector<std::uint8_t> address;
    network::Endpoint* owner = nullptr;
    Worker* worker = nullptr;
    ucp_ep_h endpoint = nullptr;
    void* closing = nullptr;        // the request that closes an earlier one
    ucs_status_t failure = UCS_OK;  // why UCX has given it up; look() then closes it
    std::uint64_t again_at = 0;     // when it may be made again, in ns; 0: at once
    bool unflushed = false, flushing = false;
    std::uint64_t flushed_until = 0;  // when that is waited for no longer
    // Puts whose bytes have left; those that a flush under way will end.
    std::vector<network::Transfer*> put, confirming;
  };

  /// What a transfer that is under way has in Operation::library.
  struct UnderWay {
    Worker* worker;  // nullptr: it is not
    Peer* peer;      // set for UCX's own reads and puts alone, as is `key`
    ucp_rkey_h key;
    std::uint64_t cookie;  // of a read that was asked for
  };
  static_assert(sizeof(UnderWay) <= sizeof(network::Operation::library));
  static UnderWay& under_way(network::Operation& transfer) { return *reinterpret_cast<UnderWay*>(transfer.library); }

  // worker.cc: the context, the worker and their settings.
  ashlar_result failed(const ashlar_host& host, const char* what, ucs_status_t status) const;
  void choose(const network::Place& place);
  const char* start(ucs_status_t* status);
  ucs_status_t set_caches(ucp_config_t* config) const;
  const char* start_worker(ucs_status_t* status);
  ucs_status_t make_worker(ucp_worker_h* out) const;
  ucs_status_t make_endpoint(ucp_worker_h from, const std::vector<std::uint8_t>& address, ucp_err_handler_t lost,
                             ucp_ep_h* out) const;
  enum class Close { kNow, kFlushed };
  void* close_endpoint(ucp_ep_h endpoint, Close how) const;
  void judge_tags();

  // worker_peers.cc: operations and what becomes of them.
  bool progress();
  void tell_kept();
  bool ready(Peer& peer);
  void give_up(Peer& peer, ucs_status_t status);
  void close_given_up();
  void end(network::Buffer& buffer, ucs_status_t status);
  static ucs_status_t arrived(void* self, const void* header, std::size_t header_length, void* data, std::size_t length,
                              const ucp_am_recv_param_t* parameters);
  static void sent(void* request, ucs_status_t status, void* buffer);
  static void flushed(void* request, ucs_status_t status, void* peer);
  static void lost(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  // worker_reads.cc: memory that is read.
  bool pack(const void* memory, std::size_t bytes, ucp_mem_h* known, PackedKey* out);
  Posted ask(Peer& peer, network::Transfer& read);
  bool answer(ucp_ep_h to, const struct Answer& answer, const std::byte* memory, std::size_t length);
  void end(network::Transfer& transfer, ucs_status_t status);
  void end_reads(const Peer* peer, ucs_status_t status);
  static void was_read(void* request, ucs_status_t status, void* read);
  static void words_left(void* request, ucs_status_t status, void* words);
  static ucs_status_t asked(void* self, const void* header, std::size_t header_length, void* data, std::size_t length,
                            const ucp_am_recv_param_t* parameters);
  static ucs_status_t answered(void* self, const void* header, std::size_t header_length, void* data,
                               std::size_t length, const ucp_am_recv_param_t* parameters);

  // worker_puts.cc: memory that is written.
  void judge_puts();
  bool prove_puts();
  bool try_put(const struct Second& second, std::uint64_t there, std::uint64_t value, bool helps, std::uint64_t limit);
  void has_left(Peer& peer, network::Transfer& put);
  void confirm(Peer& peer);
  void end_puts(std::vector<network::Transfer*>& puts, ucs_status_t status);
  static void was_put(void* request, ucs_status_t status, void* put);
  static void confirmed(void* request, ucs_status_t status, void* peer);

  // worker_tags.cc: messages that UCX matches.
  const char* start_tags(ucs_status_t* status);
  ucp_request_param_t receive_of(network::TagReceive& receive);
  Posted begun(network::TagReceive& receive, void* request);
  void tell(network::TagReceive& receive);
  void tell_tags();
  static void received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* receive);

  const Config& config_;
  const Library* library_ = nullptr;
  Events* events_ = nullptr;
  std::string transports_;  // as UCX_TLS has them
  std::optional<ip::SocketAddress> source_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_datatype_t taken_ = 0;  // how bytes of tagged messages are received
  int wake_fd_ = -1;
  std::vector<std::unique_ptr<Peer>> peers_;  // by path; nullptr: it is free
  std::vector<network::Path> free_paths_;
  std::vector<Peer*> given_up_;
  std::unordered_set<UnderWay*> keyed_;  // transfers with a key
  // What UCX has told outside of look(), for the next one.
  struct Kept {
    std::vector<std::vector<std::byte>> frames;
    std::vector<std::pair<network::Buffer*, ucs_status_t>> buffers;
    std::vector<std::pair<network::Transfer*, ucs_status_t>> transfers;
    std::vector<network::TagReceive*> tags;

    bool empty() const { return frames.empty() && buffers.empty() && transfers.empty() && tags.empty(); }
  } kept_;
  std::vector<network::TagReceive*> telling_;
  std::unique_ptr<std::byte[]> aligned_;  // a frame that UCX has put at an odd address
  bool asks_ = false;                     // for reads, in place of UCX's own
  /// Of the puts that are tried at the start; one that needs calls of this process may arrive late.
  struct Trial {
    std::uint64_t from = 0;
    std::atomic<std::uint64_t> to = 0;
  } trial_;
  /// Memory that peers may read: what Registration::region points to.
  struct Region {
    ucp_mem_h known = nullptr;  // to UCX, for its own reads
    PackedKey packed = {};
    const std::byte* memory = nullptr;
    std::size_t bytes = 0;
    RegionSecret secret = {};
  };
  std::unordered_map<std::uint32_t, std::unique_ptr<Region>> regions_;  // by number
  std::uint32_t last_region_ = 0;
  struct Asked {
    network::Transfer* read = nullptr;
    const Peer* peer = nullptr;
    std::uint64_t got = 0;  // bytes
  };
  std::unordered_map<std::uint64_t, Asked> asked_;  // that have no answer yet, by cookie
  std::uint64_t last_cookie_ = 0;                   // the first is drawn: a stranger's answer has none
  unsigned handled_ = 0;
  bool looking_ = false;  // in look(), where events are told
  bool posting_ = false;  // in post() of a put that has left at once
  bool inside_ = false;   // in a function of UCX that calls back
  std::string reason_;
};

/// Parameters of an operation whose end `callback` is told, with `of`.
inline ucp_request_param_t request_of(ucp_send_nbx_callback_t callback, void* of) {
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = callback;
  parameters.user_data = of;
  return parameters;
}

}  // namespace ashlar::ucx

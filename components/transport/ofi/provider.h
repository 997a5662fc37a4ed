#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "components/transport/common/buffer.h"
#include "components/transport/common/tagged.h"
#include "components/transport/ofi/config.h"
#include "components/transport/ofi/library.h"

namespace ashlar::ofi {

/// A provider of libfabric on one device, and an endpoint there with what it stands on.
class Provider final : public network::Fabric {
 public:
  explicit Provider(const Config& config) : config_(config) {}
  /// On the device of `info`, for reads alone.
  Provider(const Config& config, const Library& library, fi_info* info)
      : config_(config), library_(&library), info_(info), is_rail_(true) {}
  ~Provider() override;

  ashlar_result open(const ashlar_host& host, const network::Place& place, Events& events) override;
  void close() override;
  std::vector<std::uint8_t> address() override;
  const sockaddr* source() const override;

  network::Path insert(const std::vector<std::uint8_t>& address, network::Endpoint* owner) override;
  bool remove(network::Path path) override;
  Posted post(network::Buffer& buffer, network::Path to) override;
  Posted post(network::Transfer& transfer, network::Path peer) override;
  Posted post_tag(network::TagReceive& receive) override;
  void cancel(network::TagReceive& receive) override;
  bool tags_pay() const override;
  bool inject(const std::byte* bytes, std::size_t length, network::Path to) override;
  std::size_t inject_most() const override { return info_->tx_attr->inject_size; }
  void make_room() override;
  void reuse(network::Buffer& buffer) override;
  unsigned look() override;
  std::unique_ptr<Fabric> rail(unsigned number) override;
  bool ends_soon() const override;
  std::string reason() const override { return text(last_error_); }

  int wake_fd() const override { return wake_fd_; }
  bool may_sleep() override;

  bool enlist(const void* memory, std::size_t bytes, unsigned uses, network::Registration* out) override;
  void delist(network::Registration& registration) override;
  network::RemoteKey key_of(const network::Registration& registration, const void* memory) const override;
  bool keeps() const override { return true; }
  bool uses_known_memory() const override { return wants(FI_MR_LOCAL); }

 private:
  // choice.cc
  bool choose(const network::Place& place, int* error);
  bool choose(const network::Place& place, bool with_tags, int* error);
  fi_info* hints(bool with_tags) const;
  const fi_info* in_turn(const std::vector<const fi_info*>& equals, const network::Place& place);
  const fi_info* card_in_turn(const std::vector<const fi_info*>& equals, const network::Place& place);
  void take_further(const std::vector<const fi_info*>& further, std::size_t left, const network::Place& place);
  void judge_tags();
  bool is_software() const;
  bool is_tcp_alone() const;
  void tell_variables();

  // provider.cc
  void drop_infos();
  const char* start(int* error);
  bool may_put() const;
  bool prove_puts();
  bool wants(int mode) const { return (info_->domain_attr->mr_mode & mode) != 0; }
  /// What Registration::region points to.
  struct Region {
    fid_mr* known = nullptr;
    const std::byte* memory = nullptr;
  };
  int enlist(const void* memory, std::size_t bytes, std::uint64_t access, fid_mr** out);
  const char* text(long error) const { return library_->strerror(static_cast<int>(error < 0 ? -error : error)); }
  Posted posted(ssize_t error);

  // completions.cc
  ssize_t write(void* here, std::size_t bytes, void* description, network::Path peer, std::uint64_t there,
                std::uint64_t key, void* context);
  unsigned take(const fi_cq_tagged_entry& entry);
  unsigned take_error();
  std::string reason(const fi_cq_err_entry& entry) const;

  // receives.cc
  static constexpr std::uint64_t kFewestReceives = 4;
  static std::uint64_t receives_of(std::uint64_t frame_bytes, std::uint64_t wanted);
  bool choose_multi_receive();
  fi_info* with_multi_receive();
  void open_multi_receive();
  int open_receives(std::uint64_t frames);
  void receive(network::Buffer& buffer);
  void let_go(network::Buffer& buffer);
  unsigned received(network::Buffer& buffer, const fi_cq_tagged_entry& entry);
  void received_odd(network::Buffer& in, const std::byte* bytes, std::size_t length);
  void not_received(network::Buffer& buffer, std::uint64_t flags);

  const Config& config_;
  const Library* library_ = nullptr;
  Events* events_ = nullptr;
  fi_info* info_ = nullptr;
  std::vector<fi_info*> further_;  // of devices for rails
  const bool is_rail_ = false;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* peers_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  std::unordered_set<Region*> bound_;  // to the endpoint
  int wake_fd_ = -1;
  std::uint64_t next_key_ = 1;
  long last_error_ = 0;
  bool multi_receive_ = false;  // receive buffers take many frames
  std::unique_ptr<network::BufferPool> receives_;
  std::unique_ptr<network::BufferPool> odd_frames_;  // copies of frames that arrived at odd addresses
  std::vector<fi_cq_tagged_entry> kept_;             // completions read by make_room(), for the next look
  std::vector<network::Buffer*> to_receive_;         // libfabric had no room for them
};

}  // namespace ashlar::ofi

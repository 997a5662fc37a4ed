#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <string>
#include <vector>

#include "components/transport/ofi/config.h"
#include "components/transport/ofi/library.h"

namespace ashlar::ofi {

/// A network card, as far as the system tells without libfabric: "mlx5_0"; empty: there is none.
std::string network_card();

/// A provider of libfabric on one device, and an endpoint there with what it stands on.
class Provider {
 public:
  Provider() = default;
  ~Provider();
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  /// `one_node`: no process of the job is elsewhere.
  ashlar_result open(const ashlar_host& host, const Config& config, bool one_node);
  /// Ends the endpoint: what was posted there is touched no more.
  void close_endpoint();

  const std::string& name() const { return name_; }      // "tcp;ofi_rxm"
  const std::string& device() const { return device_; }  // "eth0"
  /// What else there was, and why it was not taken.
  const std::string& others() const { return others_; }
  std::vector<std::uint8_t> address() const;
  const void* source() const { return info_->src_addr; }  // of the chosen device, as it was before the endpoint
  std::uint32_t address_format() const { return info_->addr_format; }
  std::uint64_t sends() const { return sends_; }
  std::uint64_t receives() const { return receives_; }
  bool reads() const { return reads_; }
  /// Bytes that libfabric copies at once, without a completion.
  std::size_t inject() const { return info_->tx_attr->inject_size; }
  bool wants(int mode) const { return (info_->domain_attr->mr_mode & mode) != 0; }
  int wake_fd() const { return wake_fd_; }
  /// Nothing has arrived, and the next arrival makes the descriptor readable.
  bool may_sleep();

  /// The peer at an address of the provider; FI_ADDR_UNSPEC: that is none.
  fi_addr_t insert(const std::vector<std::uint8_t>& address);
  /// Makes memory usable for `access`; 0, or libfabric's error.
  int enlist(const void* memory, std::size_t bytes, std::uint64_t access, fid_mr** out);
  const char* reason(long error) const { return library_->strerror(static_cast<int>(error < 0 ? -error : error)); }
  /// Of a completion with an error.
  std::string reason(const fi_cq_err_entry& entry) const;

  fid_ep* endpoint = nullptr;
  fid_cq* completions = nullptr;

 private:
  bool choose(const Config& config, bool one_node, int* error);
  const char* start(const Config& config, int* error);

  const Library* library_ = nullptr;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* peers_ = nullptr;
  int wake_fd_ = -1;
  std::uint64_t sends_ = 0, receives_ = 0, next_key_ = 1;
  bool reads_ = false;
  std::string name_, device_, others_;
};

}  // namespace ashlar::ofi

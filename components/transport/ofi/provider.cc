#include "components/transport/ofi/provider.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "framework/base/clock.h"

// What stands on the provider that was chosen: its endpoint and what belongs to it, and registered memory.
namespace ashlar::ofi {
namespace {

/// Longer frames than ofi_rxm and cards send eagerly would cost them a handshake; `tcp` writes them as others. Between
/// two hosts a message of 16 KiB took 11 us in one frame of it, and 34 us by rendezvous.
std::uint32_t frame_bytes_of(bool tcp_alone, std::uint64_t wanted) {
  constexpr std::uint64_t kUsual = 16 << 10, kOverTcpAlone = 65 << 10;
  if (wanted == 0) return static_cast<std::uint32_t>(tcp_alone ? kOverTcpAlone : kUsual);
  return static_cast<std::uint32_t>(network::frame_in(std::max<std::uint64_t>(wanted, network::kLeastFrame)));
}

/// Records that a parameter below `least`, which is `used`, counts as that. 0 leaves it to the transport.
void tell_raised(const ashlar_host& host, const char* parameter, std::uint64_t value, std::uint64_t least,
                 const char* used, const char* because) {
  if (value != 0 && value < least && host.adjusted != nullptr)
    host.adjusted("transport", "ofi", parameter, used, because);
}

/// Providers over others pass on lengths that these do not take: ofi_rxm those that verbs would cut to 32 bits.
constexpr std::uint64_t kTransferMost = 1 << 30;

}  // namespace

Provider::~Provider() {
  close();
  receives_.reset();
  odd_frames_.reset();
  if (completions_ != nullptr) fi_close(&completions_->fid);
  if (peers_ != nullptr) fi_close(&peers_->fid);
  if (domain_ != nullptr) fi_close(&domain_->fid);
  if (fabric_ != nullptr) fi_close(&fabric_->fid);
  drop_infos();
}

void Provider::drop_infos() {
  if (info_ != nullptr) library_->freeinfo(std::exchange(info_, nullptr));
  for (fi_info* const info : further_) library_->freeinfo(info);
  further_.clear();
}

/// Providers whose regions belong to an endpoint (FI_MR_ENDPOINT) may close that only after them.
void Provider::close() {
  if (endpoint_ == nullptr) return;
  if (fi_close(&endpoint_->fid) == -FI_EBUSY) {
    for (Region* const region : bound_) fi_close(&std::exchange(region->known, nullptr)->fid);
    bound_.clear();
    (void)fi_close(&endpoint_->fid);
  }
  endpoint_ = nullptr;
}

std::unique_ptr<network::Fabric> Provider::rail(unsigned number) {
  fi_info* const info = library_->dupinfo(further_[number]);
  return info != nullptr ? std::make_unique<Provider>(config_, *library_, info) : nullptr;
}

/// Whether the provider says that it does what puts need.
bool Provider::may_put() const {
  constexpr std::uint64_t kBoth = FI_WRITE | FI_REMOTE_WRITE;
  return (info_->caps & kBoth) == kBoth && info_->domain_attr->data_progress == FI_PROGRESS_AUTO;
}

/// By a put to this process itself. One-sided communication counts on puts that need nothing of the peer's program.
bool Provider::prove_puts() {
  constexpr std::uint64_t kWord = 0x70757473, kLimitNs = 5'000'000'000;
  if (!may_put()) return false;
  struct Trial : network::Operation {
    std::uint64_t from = kWord, to = 0;
  };
  auto trial = std::make_unique<Trial>();
  trial->what = network::Operation::What::kTrial;
  network::Registration known;
  const network::Path own = insert(address(), nullptr);
  if (own == network::kNoPath || !enlist(&trial->from, 2 * sizeof kWord, kSource | kPut, &known)) return false;
  const network::RemoteKey named = key_of(known, &trial->to);
  std::uint64_t key = 0;
  std::memcpy(&key, named.bytes, sizeof key);
  ssize_t posted = -FI_EAGAIN, ended = -FI_EAGAIN;
  fi_cq_tagged_entry entry = {};
  for (const std::uint64_t until = now_ns() + kLimitNs; ended == -FI_EAGAIN && now_ns() < until; sched_yield()) {
    if (posted == -FI_EAGAIN)
      posted = write(&trial->from, sizeof kWord, known.description, own, named.base, key, &trial->library);
    if (posted != 0 && posted != -FI_EAGAIN) break;
    ended = fi_cq_read(completions_, &entry, 1);
  }
  const bool proved = ended == 1 && trial->to == kWord;
  if (ended == -FI_EAVAIL) (void)take_error();
  if (posted == 0 && ended == -FI_EAGAIN) {
    (void)trial.release();  // libfabric has it still
    return false;
  }
  delist(known);
  return proved;
}

/// nullptr, or what could not be made.
const char* Provider::start(int* error) {
  // What the provider allows, of what is wanted.
  sends_ = std::min<std::uint64_t>(config_.sessions.sends, std::max<std::size_t>(info_->tx_attr->size, 4));
  tag_receives_ = config_.tag_receives;
  frame_bytes_ = frame_bytes_of(is_tcp_alone(), config_.sessions.frame_bytes);
  const std::uint64_t receives = std::min<std::uint64_t>(receives_of(frame_bytes_, config_.receives),
                                                         std::max<std::size_t>(info_->rx_attr->size, 4));
  rails_ = static_cast<unsigned>(further_.size());
  network_ = info_->fabric_attr->name != nullptr ? info_->fabric_attr->name : "";
  reads_ = (info_->caps & FI_READ) != 0;
  transfer_most_ = kTransferMost;
  if (const std::uint64_t most = info_->ep_attr->max_msg_size; most != 0)
    transfer_most_ = std::min(most, transfer_most_);
  in_flight_ = is_software() ? config_.in_flight : 0;
  if (!is_rail_) multi_receive_ = choose_multi_receive();
  if ((*error = library_->fabric(info_->fabric_attr, &fabric_, nullptr)) != 0) return "its fabric";
  if ((*error = fi_domain(fabric_, info_, &domain_, nullptr)) != 0) return "its domain";
  fi_av_attr av = {};
  av.type = info_->domain_attr->av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE;
  if ((*error = fi_av_open(domain_, &av, &peers_, nullptr)) != 0) return "its table of addresses";
  fi_cq_attr cq = {};
  // A claim is one more beside the receives that are posted.
  cq.size = sends_ + receives + 16 + (tag_bits_ != 0 ? config_.tag_receives + 16 : 0);
  cq.format = FI_CQ_FORMAT_TAGGED;
  cq.wait_obj = FI_WAIT_FD;
  if (fi_cq_open(domain_, &cq, &completions_, nullptr) == 0) {
    if (fi_control(&completions_->fid, FI_GETWAIT, &wake_fd_) != 0) wake_fd_ = -1;
  } else {
    cq.wait_obj = FI_WAIT_NONE;
    if ((*error = fi_cq_open(domain_, &cq, &completions_, nullptr)) != 0) return "its completion queue";
  }
  if ((*error = fi_endpoint(domain_, info_, &endpoint_, nullptr)) != 0) return "its endpoint";
  *error = fi_ep_bind(endpoint_, &peers_->fid, 0);
  if (*error == 0) *error = fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV);
  if (*error == 0 && multi_receive_) open_multi_receive();
  if (*error == 0) *error = fi_enable(endpoint_);
  if (*error != 0) return "its endpoint";
  if (is_rail_) return nullptr;
  puts_ = prove_puts();
  return (*error = open_receives(receives)) == 0 ? nullptr : "its receive buffers";
}

ashlar_result Provider::open(const ashlar_host& host, const network::Place& place, Events& events) {
  events_ = &events;
  ashlar_result failed = ASHLAR_OK;
  if (!is_rail_) library_ = Library::of_process(host, config_.library, config_.sessions.memory_hooks, &failed);
  if (library_ == nullptr) return failed;
  has_hooks_ = config_.sessions.memory_hooks && library_->has_hooks;
  int error = 0;
  if (!is_rail_ && !choose(place, &error)) {
    const ashlar_fact facts[] = {
        {.name = "provider", .text = config_.provider, .number = 0},
        {.name = "domain", .text = config_.domain, .number = 0},
        {.name = "lower", .text = others_.empty() ? text(error) : others_.c_str(), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ofi.no_provider", facts, std::size(facts));
  }
  name_ = info_->fabric_attr->prov_name;
  device_ = info_->domain_attr->name;
  if (!is_rail_) {
    tell_variables();
    tell_raised(host, "frame_bytes", config_.sessions.frame_bytes, network::kLeastFrame, "4KiB",
                "a first message has to fit into a frame");
    tell_raised(host, "receives", config_.receives, kFewestReceives, "4", "fewer would hold up the peers");
  }
  const char* const what = start(&error);
  why_ += puts_ ? "; puts need nothing of the peer's program" : "; one-sided communication uses messages, not its puts";
  if (what == nullptr) return ASHLAR_OK;
  const ashlar_fact facts[] = {{.name = "provider", .text = name_.c_str(), .number = 0},
                               {.name = "domain", .text = device_.c_str(), .number = 0},
                               {.name = "what", .text = what, .number = 0},
                               {.name = "lower", .text = text(error), .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ofi.not_started", facts, std::size(facts));
}

const sockaddr* Provider::source() const {
  const bool ip = info_->addr_format == FI_SOCKADDR_IN || info_->addr_format == FI_SOCKADDR_IN6;
  return ip ? static_cast<const sockaddr*>(info_->src_addr) : nullptr;
}

std::vector<std::uint8_t> Provider::address() {
  std::vector<std::uint8_t> bytes(64);
  std::size_t length = bytes.size();
  int error = fi_getname(&endpoint_->fid, bytes.data(), &length);
  if (error == -FI_ETOOSMALL) {
    bytes.resize(length);
    error = fi_getname(&endpoint_->fid, bytes.data(), &length);
  }
  bytes.resize(error == 0 ? length : 0);
  return bytes;
}

bool Provider::may_sleep() {
  if (!to_receive_.empty() || !kept_.empty()) return false;
  fid* const queue = &completions_->fid;
  fid* queues[] = {queue};
  return fi_trywait(fabric_, queues, 1) == 0;
}

network::Path Provider::insert(const std::vector<std::uint8_t>& address, network::Endpoint*) {
  static_assert(network::kNoPath == FI_ADDR_UNSPEC);
  fi_addr_t at = FI_ADDR_UNSPEC;
  return fi_av_insert(peers_, address.data(), 1, &at, 0, nullptr) == 1 ? at : FI_ADDR_UNSPEC;
}

/// Its connection is libfabric's, which keeps it until the peer closes it.
bool Provider::remove(network::Path path) {
  fi_addr_t at = path;
  (void)fi_av_remove(peers_, &at, 1, 0);
  return true;
}

int Provider::enlist(const void* memory, std::size_t bytes, std::uint64_t access, fid_mr** out) {
  const std::uint64_t key = wants(FI_MR_PROV_KEY) ? 0 : next_key_++;
  const int made = fi_mr_reg(domain_, memory, bytes, access, 0, key, 0, out, nullptr);
  if (made != 0 || !wants(FI_MR_ENDPOINT)) return made;
  int error = fi_mr_bind(*out, &endpoint_->fid, 0);
  if (error == 0) error = fi_mr_enable(*out);
  if (error == 0) return 0;
  fi_close(&(*out)->fid);
  *out = nullptr;
  return error;
}

bool Provider::enlist(const void* memory, std::size_t bytes, unsigned uses, network::Registration* out) {
  if ((uses & (kRead | kPut)) == 0 && !wants(FI_MR_LOCAL)) return true;
  std::uint64_t access = 0;
  if ((uses & kFrames) != 0) access |= FI_SEND | FI_RECV;
  if ((uses & kRead) != 0) access |= FI_REMOTE_READ;
  if ((uses & kWritten) != 0) access |= FI_READ | FI_RECV;
  if ((uses & kPut) != 0 && may_put()) access |= FI_REMOTE_WRITE;
  if ((uses & kSource) != 0 && may_put()) access |= FI_WRITE;
  auto* const region = new (std::nothrow) Region{.known = nullptr, .memory = static_cast<const std::byte*>(memory)};
  last_error_ = region == nullptr ? -FI_ENOMEM : enlist(memory, bytes, access, &region->known);
  if (last_error_ != 0) {
    delete region;
    return false;
  }
  if (wants(FI_MR_ENDPOINT)) bound_.insert(region);
  *out = {.region = region, .description = fi_mr_desc(region->known)};
  return true;
}

void Provider::delist(network::Registration& registration) {
  auto* const region = static_cast<Region*>(registration.region);
  registration = {};
  if (region == nullptr) return;
  bound_.erase(region);
  if (region->known != nullptr) fi_close(&region->known->fid);
  delete region;
}

network::RemoteKey Provider::key_of(const network::Registration& registration, const void* memory) const {
  const Region& region = *static_cast<const Region*>(registration.region);
  const std::uint64_t key = fi_mr_key(region.known);
  network::RemoteKey named = {};
  named.base = wants(FI_MR_VIRT_ADDR)
                   ? reinterpret_cast<std::uintptr_t>(memory)
                   : static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) - region.memory);
  std::memcpy(named.bytes, &key, sizeof key);
  return named;
}

}  // namespace ashlar::ofi

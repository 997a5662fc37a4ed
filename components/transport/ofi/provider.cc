#include "components/transport/ofi/provider.h"

#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "components/transport/common/card.h"
#include "components/transport/common/counters.h"
#include "components/transport/common/variables.h"
#include "framework/base/clock.h"

namespace ashlar::ofi {
namespace {

// What libfabric may ask of memory, all of which enlist() does.
constexpr int kMemoryModes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
// Over TCP, best first: `tcp` has endpoints of its own kind since libfabric 1.18, without the buffers of ofi_rxm.
constexpr const char* kOverTcp[] = {"tcp", "tcp;ofi_rxm"};
constexpr std::uint32_t kTagBitsLeast = 48;
constexpr int kNotTaken = std::numeric_limits<int>::max();

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Its place in kOverTcp, the first is 0; -1: it is none of them.
int place_over_tcp(const std::string& provider) {
  const auto* const found = std::find(std::begin(kOverTcp), std::end(kOverTcp), provider);
  return found == std::end(kOverTcp) ? -1 : static_cast<int>(found - std::begin(kOverTcp));
}

/// Not a network card: what the system's own sockets and memory do.
bool software(const std::string& provider) {
  return has(provider, "tcp") || has(provider, "udp") || has(provider, "sockets") || has(provider, "net") ||
         has(provider, "shm") || has(provider, "hook");
}

/// Longer frames than ofi_rxm and cards send eagerly would cost them a handshake; `tcp` writes them as others. Between
/// two hosts a message of 16 KiB took 11 us in one frame of it, and 34 us by rendezvous.
std::uint32_t frame_bytes_of(const std::string& provider, std::uint64_t wanted) {
  constexpr std::uint64_t kUsual = 16 << 10, kOverTcpAlone = 65 << 10;
  if (wanted == 0) return static_cast<std::uint32_t>(provider == kOverTcp[0] ? kOverTcpAlone : kUsual);
  return static_cast<std::uint32_t>(network::frame_in(std::max<std::uint64_t>(wanted, network::kLeastFrame)));
}

constexpr std::uint64_t kFewestReceives = 4;

/// Buffers of one frame each are taken in turn, so more of them than a cache holds are in none when a frame arrives:
/// messages of 64 KiB over `tcp`, both ways, brought 1.9 GB/s with 64 of them, 3.1 with 24 and 3.8 with 8, in a cache
/// of 1 MiB.
std::uint64_t receives_of(std::uint64_t frame_bytes, std::uint64_t wanted) {
  constexpr std::uint64_t kBytes = 1 << 20, kFew = 8, kMany = 64;
  if (wanted == 0) return std::clamp(kBytes / frame_bytes, kFew, kMany);
  return std::max(wanted, kFewestReceives);
}

/// Records that a parameter below `least`, which is `used`, counts as that. 0 leaves it to the transport.
void tell_raised(const ashlar_host& host, const char* parameter, std::uint64_t value, std::uint64_t least,
                 const char* used, const char* because) {
  if (value != 0 && value < least && host.adjusted != nullptr)
    host.adjusted("transport", "ofi", parameter, used, because);
}

/// Providers over others pass on lengths that these do not take: ofi_rxm those that verbs would cut to 32 bits.
constexpr std::uint64_t kTransferMost = 1 << 30;

enum class Reach { kNetwork, kLoopback, kLink };

Reach reach_of(const fi_info& info) {
  if (info.src_addr == nullptr) return Reach::kNetwork;
  if (info.addr_format == FI_SOCKADDR_IN) {
    const auto* const v4 = static_cast<const sockaddr_in*>(info.src_addr);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127 ? Reach::kLoopback : Reach::kNetwork;
  }
  if (info.addr_format == FI_SOCKADDR_IN6) {
    const in6_addr& v6 = static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6) ? Reach::kLoopback : IN6_IS_ADDR_LINKLOCAL(&v6) ? Reach::kLink : Reach::kNetwork;
  }
  return Reach::kNetwork;
}

/// Its folder below /sys; empty: libfabric does not say where it is.
std::string folder_of(const fi_info& info) {
  if (info.nic == nullptr || info.nic->bus_attr == nullptr || info.nic->bus_attr->bus_type != FI_BUS_PCI) return {};
  const fi_pci_attr& pci = info.nic->bus_attr->attr.pci;
  char path[64];
  std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id,
                pci.function_id);
  return path;
}

/// Whether two cards are of one model and speed and on one network, so that one serves as well as the other.
bool alike(const fi_info& a, const fi_info& b) {
  if (!same(a.fabric_attr->prov_name, b.fabric_attr->prov_name) || !same(a.fabric_attr->name, b.fabric_attr->name) ||
      a.addr_format != b.addr_format)
    return false;
  const fi_device_attr *const model = a.nic->device_attr, *const other = b.nic->device_attr;
  if (model != nullptr && other != nullptr &&
      (!same(model->vendor_id, other->vendor_id) || !same(model->device_id, other->device_id)))
    return false;
  const fi_link_attr *const link = a.nic->link_attr, *const other_link = b.nic->link_attr;
  return link == nullptr || other_link == nullptr || link->speed == other_link->speed;
}

/// Ranks what libfabric lists: lower is better, and kNotTaken is refused, for the reason `*why`.
int rank_of(const fi_info& info, const Config& config, bool one_node, const char** why) {
  const std::string provider = info.fabric_attr->prov_name, device = info.domain_attr->name;
  const std::string wanted = config.provider, wanted_device = config.domain;
  const auto refused = [&](const char* reason) {
    *why = reason;
    return kNotTaken;
  };
  const bool any = wanted == "auto";
  const int over_tcp = place_over_tcp(provider);
  if (any ? software(provider) && over_tcp < 0 : provider != wanted) return refused("it serves when named");
  if (wanted_device != "auto" && device != wanted_device) return refused("another device is named");
  if ((info.tx_attr->msg_order & info.rx_attr->msg_order & FI_ORDER_SAS) == 0)
    return refused("it does not keep the order of sends (FI_ORDER_SAS)");
  if (info.nic != nullptr && info.nic->link_attr != nullptr && info.nic->link_attr->state == FI_LINK_DOWN)
    return refused("it has no link");
  const Reach reach = reach_of(info);
  if (reach == Reach::kLink) return refused("its address has a meaning on one link only");
  if (reach == Reach::kLoopback && !one_node) return refused("it does not reach other nodes");
  int rank = software(provider) ? 100 : 0;
  if (over_tcp > 0) rank += 2 * over_tcp;
  if (reach == Reach::kLoopback && wanted_device == "auto") rank += 10;  // other jobs may be on other nodes
  if (info.addr_format == FI_SOCKADDR_IN6) rank += 1;
  *why = "a better one comes first";
  return rank;
}

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

bool Provider::choose(const network::Place& place, int* error) {
  if (tags_wanted_ != ASHLAR_TAGS_WHERE_WORKING) {
    if (!choose(place, false, error)) return false;
    no_tags_ = tags_wanted_ == ASHLAR_TAGS_NEVER
                   ? "p2p.matching or the job's settings exclude them"
                   : "this provider matches tags in software; p2p.matching=native uses it anyway";
    if (tags_wanted_ != ASHLAR_TAGS_WHERE_PAYING || !tags_pay()) return true;
  }
  if (choose(place, true, error)) {
    judge_tags();
    return true;
  }
  no_tags_ = "no provider has them";
  return choose(place, false, error);
}

/// Sets tag_bits_ if the provider has tagged receives from one named process, and 8 bytes of immediate data.
void Provider::judge_tags() {
  tag_bits_ = 0;
  const std::uint64_t format = info_->ep_attr->mem_tag_format;
  const auto bits = static_cast<std::uint32_t>(std::numeric_limits<std::uint64_t>::digits - std::countl_zero(format));
  if ((info_->caps & FI_TAGGED) == 0 || (info_->caps & FI_DIRECTED_RECV) == 0) {
    no_tags_ = "the provider has no tagged messages of one process alone";
  } else if (info_->domain_attr->cq_data_size < sizeof(std::uint64_t)) {
    no_tags_ = "the provider sends less than 8 bytes beside a message";
  } else if (bits < kTagBitsLeast) {
    no_tags_ = "the provider's tags have too few bits";
  } else {
    tag_bits_ = bits;
  }
}

/// Cards that match, and libraries with tags on their own wire.
bool Provider::tags_pay() const {
  constexpr const char* kMatching[] = {"cxi", "psm3", "opx", "efa"};
  return std::any_of(std::begin(kMatching), std::end(kMatching),
                     [&](const char* name) { return has(info_->fabric_attr->prov_name, name); });
}

/// The device that this process takes of equal ones, and those for rails: network interfaces of the system, which its
/// processes share in any case, or cards.
const fi_info* Provider::in_turn(const std::vector<const fi_info*>& equals, const network::Place& place) {
  why_ = "the first of those that libfabric lists";
  const fi_info& first = *equals.front();
  if (!folder_of(first).empty()) return card_in_turn(equals, place);
  std::vector<const fi_info*> further;
  for (const fi_info* const info : equals) {
    const auto with = [&](const fi_info* one) {
      return same(one->domain_attr->name, info->domain_attr->name) ||
             same(one->fabric_attr->name, info->fabric_attr->name);
    };
    const bool serves = same(info->fabric_attr->prov_name, first.fabric_attr->prov_name) &&
                        info->addr_format == first.addr_format && reach_of(*info) == Reach::kNetwork;
    if (serves && !with(&first) && std::none_of(further.begin(), further.end(), with)) further.push_back(info);
  }
  take_further(further, place.one_node ? 0 : further.size(), place);
  return &first;
}

/// Chooses the card of this process among those like the first one.
const fi_info* Provider::card_in_turn(const std::vector<const fi_info*>& equals, const network::Place& place) {
  const fi_info& first = *equals.front();
  std::vector<const fi_info*> cards;
  std::vector<std::string> folders;
  for (const fi_info* const info : equals) {
    const std::string folder = folder_of(*info);
    if (folder.empty() || std::find(folders.begin(), folders.end(), folder) != folders.end() || !alike(*info, first))
      continue;
    cards.push_back(info);
    folders.push_back(folder);
  }
  const network::Turn turn =
      network::turn_of(place.local_rank, network::processors_of_process(), folders, place.local_size);
  if (!turn.why.empty()) why_ = turn.why;
  std::vector<const fi_info*> further;
  for (const std::size_t card : turn.further) further.push_back(cards[card]);
  const std::size_t each = cards.size() / place.local_size;
  take_further(further, place.one_node || each == 0 ? 0 : each - 1, place);
  return cards[turn.card];
}

/// Keeps the descriptions of devices for rails: as many as are wanted, or are `left` for this process.
void Provider::take_further(const std::vector<const fi_info*>& further, std::size_t left, const network::Place& place) {
  if (further.empty()) return;
  const std::uint64_t wanted = config_.sessions.rails;
  const std::size_t most = wanted != 0 ? wanted - 1 : std::min(left, network::kMostRails - 1);
  for (const fi_info* const info : further)
    if (further_.size() < most) further_.push_back(library_->dupinfo(info));
  why_rails_ = "large messages are read over " + std::to_string(further_.size() + 1) + " of " +
               std::to_string(further.size() + 1) + " devices of this kind (";
  if (wanted != 0)
    why_rails_ += "as transport.ofi.rails says)";
  else if (place.one_node)
    why_rails_ += "all processes are on this node)";
  else
    why_rails_ += further_.size() == further.size() ? "all)" : "the others are left to other processes)";
  for (const fi_info* const info : further_)
    why_rails_ += std::string(info == further_.front() ? ": and " : ", ") + info->domain_attr->name;
}

bool Provider::is_software() const { return software(info_->fabric_attr->prov_name); }
bool Provider::ends_soon() const { return !is_software(); }

std::unique_ptr<network::Fabric> Provider::rail(unsigned number) {
  fi_info* const info = library_->dupinfo(further_[number]);
  return info != nullptr ? std::make_unique<Provider>(config_, *library_, info) : nullptr;
}

/// Takes the best of what libfabric lists.
bool Provider::choose(const network::Place& place, bool with_tags, int* error) {
  drop_infos();
  others_.clear();
  why_rails_.clear();
  fi_info* const hints = library_->dupinfo(nullptr);
  if (hints == nullptr) return *error = -FI_ENOMEM, false;
  hints->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_REMOTE_READ | FI_WRITE | FI_REMOTE_WRITE;
  if (with_tags) {
    hints->caps |= FI_TAGGED | FI_DIRECTED_RECV;
    hints->domain_attr->cq_data_size = sizeof(std::uint64_t);
  }
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = kMemoryModes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->tx_attr->size = config_.sessions.sends;
  hints->rx_attr->size = receives_of(network::kLeastFrame, config_.receives);
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  fi_info* all = nullptr;
  const bool any = std::strcmp(config_.provider, "auto") == 0;
  if (any && !network::cards().empty()) {
    *error = library_->getinfo(kVersion, nullptr, nullptr, 0, hints, &all);
  } else {
    // Without a card there is no need to ask every provider.
    for (const char* const name : kOverTcp) {
      std::free(std::exchange(hints->fabric_attr->prov_name, strdup(any ? name : config_.provider)));
      *error = library_->getinfo(kVersion, nullptr, nullptr, 0, hints, &all);
      if (*error == 0 || !any) break;
    }
  }
  library_->freeinfo(hints);
  if (*error != 0) return false;
  std::vector<const fi_info*> best;
  int best_rank = kNotTaken;
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    const char* why = "";
    const int rank = rank_of(*info, config_, place.one_node, &why);
    if (rank < best_rank) {
      best_rank = rank;
      best.clear();
    }
    if (rank == best_rank && rank != kNotTaken) best.push_back(info);
    const std::string other =
        std::string(info->fabric_attr->prov_name) + " over " + info->domain_attr->name + ": " + why;
    if (rank == kNotTaken && !has(others_, other.c_str()) && others_.size() < 400)
      others_ += (others_.empty() ? "" : "; ") + other;
  }
  if (!best.empty()) info_ = library_->dupinfo(in_turn(best, place));
  library_->freeinfo(all);
  if (info_ == nullptr) return *error = -FI_ENODATA, false;
  // Over TCP libfabric would start a thread for that.
  if (place_over_tcp(info_->fabric_attr->prov_name) >= 0) {
    info_->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    for (fi_info* const further : further_) further->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  }
  return true;
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

/// What the environment says to libfabric, and what it should.
void Provider::tell_variables() {
  const std::string set = network::variables("FI_");
  if (!set.empty()) why_ += "; set for libfabric: " + set;
  if (has(name_, "tcp;ofi_rxm") && !has(set, "FI_OFI_RXM_"))
    why_ += "; its receive buffers take 64 MiB, and FI_OFI_RXM_MSG_RX_SIZE=256 in the environment makes them 4 MiB";
  if (name_ == kOverTcp[0] && !has(set, "FI_TCP_MAX_RX_SIZE"))
    why_ += "; its buffers take 16 MiB, and FI_TCP_MAX_RX_SIZE=1024 in the environment makes them 1.4 MiB";
}

/// nullptr, or what could not be made.
const char* Provider::start(int* error) {
  // What the provider allows, of what is wanted.
  sends_ = std::min<std::uint64_t>(config_.sessions.sends, std::max<std::size_t>(info_->tx_attr->size, 4));
  tag_receives_ = config_.tag_receives;
  frame_bytes_ = frame_bytes_of(name_, config_.sessions.frame_bytes);
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
  if (!is_rail_) library_ = Library::of_process(host, config_.library, &failed);
  if (library_ == nullptr) return failed;
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

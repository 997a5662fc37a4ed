#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "components/transport/common/card.h"
#include "components/transport/common/counters.h"
#include "components/transport/common/variables.h"
#include "components/transport/ofi/provider.h"
#include "framework/base/ip_interfaces.h"
#include "framework/base/ip_socket.h"

// Which provider and device are taken of those that libfabric lists, which further ones serve as rails, and whether the
// provider matches tags.
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

ip::Reach reach_of(const fi_info& info) {
  if (info.src_addr == nullptr) return ip::kNetwork;
  ip::SocketAddress address;
  if (info.addr_format == FI_SOCKADDR_IN)
    address.v4 = *static_cast<const sockaddr_in*>(info.src_addr);
  else if (info.addr_format == FI_SOCKADDR_IN6)
    address.v6 = *static_cast<const sockaddr_in6*>(info.src_addr);
  else
    return ip::kNetwork;
  if (address.loopback()) return ip::kLoopback;
  return address.family() == 6 && IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr) ? ip::kLinkLocal : ip::kNetwork;
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
  const ip::Reach reach = reach_of(info);
  if (reach == ip::kLinkLocal) return refused("its address has a meaning on one link only");
  if (reach == ip::kLoopback && !one_node) return refused("it does not reach other nodes");
  int rank = software(provider) ? 100 : 0;
  if (over_tcp > 0) rank += 2 * over_tcp;
  if (reach == ip::kLoopback && wanted_device == "auto") rank += 10;  // other jobs may be on other nodes
  if (info.addr_format == FI_SOCKADDR_IN6) rank += 1;
  *why = "a better one comes first";
  return rank;
}

}  // namespace

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
                        info->addr_format == first.addr_format && reach_of(*info) == ip::kNetwork;
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
  for (const fi_info* const info : further) {
    if (further_.size() == most) break;
    if (fi_info* const copy = library_->dupinfo(info)) further_.push_back(copy);
  }
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
bool Provider::is_tcp_alone() const { return same(info_->fabric_attr->prov_name, kOverTcp[0]); }
bool Provider::ends_soon() const { return !is_software(); }

/// What libfabric is asked for; nullptr: there is no memory.
fi_info* Provider::hints(bool with_tags) const {
  fi_info* const made = library_->dupinfo(nullptr);
  if (made == nullptr) return nullptr;
  made->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_REMOTE_READ | FI_WRITE | FI_REMOTE_WRITE;
  if (with_tags) {
    made->caps |= FI_TAGGED | FI_DIRECTED_RECV;
    made->domain_attr->cq_data_size = sizeof(std::uint64_t);
  }
  made->mode = FI_CONTEXT | FI_CONTEXT2;
  made->ep_attr->type = FI_EP_RDM;
  made->domain_attr->mr_mode = kMemoryModes;
  made->domain_attr->threading = FI_THREAD_DOMAIN;
  made->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  made->tx_attr->size = config_.sessions.sends;
  made->rx_attr->size = receives_of(network::kLeastFrame, config_.receives);
  made->tx_attr->msg_order = made->rx_attr->msg_order = FI_ORDER_SAS;
  return made;
}

/// Takes the best of what libfabric lists.
bool Provider::choose(const network::Place& place, bool with_tags, int* error) {
  drop_infos();
  others_.clear();
  why_rails_.clear();
  fi_info* const wanted = hints(with_tags);
  if (wanted == nullptr) return *error = -FI_ENOMEM, false;
  fi_info* all = nullptr;
  const bool any = std::strcmp(config_.provider, "auto") == 0;
  if (any && !network::cards().empty()) {
    *error = library_->getinfo(kVersion, nullptr, nullptr, 0, wanted, &all);
  } else {
    // Without a card there is no need to ask every provider.
    for (const char* const name : kOverTcp) {
      std::free(std::exchange(wanted->fabric_attr->prov_name, strdup(any ? name : config_.provider)));
      *error = library_->getinfo(kVersion, nullptr, nullptr, 0, wanted, &all);
      if (*error == 0 || !any) break;
    }
  }
  library_->freeinfo(wanted);
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

/// What the environment says to libfabric, and what it should.
void Provider::tell_variables() {
  const std::string set = network::variables("FI_");
  if (!set.empty()) why_ += "; set for libfabric: " + set;
  if (has(name_, "tcp;ofi_rxm") && !has(set, "FI_OFI_RXM_"))
    why_ += "; its receive buffers take 64 MiB, and FI_OFI_RXM_MSG_RX_SIZE=256 in the environment makes them 4 MiB";
  if (is_tcp_alone() && !has(set, "FI_TCP_MAX_RX_SIZE"))
    why_ += "; its buffers take 16 MiB, and FI_TCP_MAX_RX_SIZE=1024 in the environment makes them 1.4 MiB";
}

}  // namespace ashlar::ofi

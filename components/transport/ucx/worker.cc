#include "components/transport/ucx/worker.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "components/transport/common/variables.h"
#include "framework/base/blocked_signals.h"
#include "framework/base/shared_file.h"

// The context and the worker: which transports and devices of UCX.
namespace ashlar::ucx {
namespace {

/// Settings of UCX's tcp where the environment sets none: larger buffers than 8 and 64 KiB, and connections that do not
/// block. If a peer ends while UCX 1.13 blocks in connect, UCX aborts this process: its cleanup finds the failed
/// endpoint sending.
constexpr struct {
  const char *name, *value;
  bool in_all_versions;
} kOfTcp[] = {{"TX_SEG_SIZE", "256k", true},
              {"RX_SEG_SIZE", "256k", true},
              {"CONN_NB", "y", true},
              // The interface was chosen; newer versions leave out bridges.
              {"BRIDGE_ENABLE", "y", false}};

/// Caches of what UCX knows of memory, which count on hearing of memory that is freed.
constexpr struct {
  const char *name, *off;
  bool in_all_versions;
  const char* methods;  ///< the variable of the environment that may name methods without a cache, or nullptr
} kCaches[] = {{"RCACHE_ENABLE", "n", true, nullptr},
               {"MEMTYPE_CACHE", "n", true, nullptr},
               // Up to UCX 1.15 the transports ib and knem have caches of their own.
               {"REG_METHODS", "direct", false, "UCX_IB_REG_METHODS"},
               {"RCACHE", "n", false, nullptr}};

/// Whether this variable of the environment names methods of registration, and none that keeps registrations.
bool names_no_cache(const char* variable) {
  const char* const methods = variable != nullptr ? std::getenv(variable) : nullptr;
  return methods != nullptr && strcasestr(methods, "rcache") == nullptr;
}

bool is_set(const char* prefix, const char* name) {
  return std::getenv((std::string(prefix) + name).c_str()) != nullptr;
}

bool automatic(const char* value) { return std::strcmp(value, "auto") == 0; }

}  // namespace

Worker::~Worker() {
  close();
  for (auto& [number, region] : regions_)
    if (region->known != nullptr) (void)library_->mem_unmap(context_, region->known);
  if (context_ != nullptr) library_->cleanup(context_);
}

/// Which transports and devices: what the parameters say, else what UCX's variables say, else what fits the node.
void Worker::choose(const network::Place& place) {
  const char* const tls = std::getenv("UCX_TLS");
  const char* const net_devices = std::getenv("UCX_NET_DEVICES");
  const std::vector<Port> ports = ports_for_ucx();
  if (!automatic(config_.transports)) {
    transports_ = config_.transports;
    why_ = "transport.ucx.transports names the transports";
  } else if (tls != nullptr) {
    transports_ = tls;
    why_ = "UCX_TLS of the environment names the transports";
  } else {
    transports_ = ports.empty() ? "tcp" : "ib";
    why_ = ports.empty() ? "this node has no card that UCX drives" : "UCX drives the card " + ports.front().name;
  }
  if (!automatic(config_.devices)) {
    device_ = config_.devices;
    why_ += ", transport.ucx.devices the devices";
  } else if (net_devices != nullptr) {
    device_ = net_devices;
    why_ += ", UCX_NET_DEVICES of the environment the devices";
  } else if (transports_ == "tcp") {
    device_ = interface_for_tcp(place.one_node, &others_);
  } else if (!ports.empty()) {
    const network::Turn turn = port_in_turn(ports, place.local_rank, &others_);
    device_ = ports[turn.card].name;
    if (!turn.why.empty()) why_ += "; " + turn.why;
  } else {
    device_ = "all";
  }
  if (const std::string set = network::variables("UCX_"); !set.empty()) why_ += "; set for UCX: " + set;
  source_ = address_of(device_ == "all" && !ports.empty() ? ports.front().name : device_.substr(0, device_.find(',')));
}

/// Whether UCX is to match tags.
void Worker::judge_tags() {
  no_tags_ = tags_wanted_ == ASHLAR_TAGS_NEVER ? "p2p.matching or the job's settings exclude them"
                                               : "UCX matches tags in software; p2p.matching=native uses it anyway";
  if (tags_wanted_ != ASHLAR_TAGS_WHERE_WORKING) return;
  // Messages that a card has matched and frames would have no order.
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view set = *entry;
    if (!set.starts_with("UCX_") || set.find("TM_ENABLE=") == set.npos) continue;
    no_tags_ = std::string(set.substr(0, set.find('='))) + " lets cards match them";
    return;
  }
  senders_in_tags_ = true;
  tag_bits_ = 64 - network::kSenderBits;
  tag_receives_ = config_.tag_receives;
}

/// Without its hooks nothing tells UCX of memory that is freed (Library), so it keeps nothing about memory. With them
/// it keeps as much as we would; in UCX 1.13 to 1.15 the cache of UCP has no bound, only those of transports have.
ucs_status_t Worker::set_caches(ucp_config_t* config) const {
  if (has_hooks_) {
    const std::pair<const char*, std::uint64_t> bounds[] = {
        {"RCACHE_MAX_SIZE", config_.sessions.registered_bytes},
        {"RCACHE_MAX_REGIONS", config_.sessions.registered_regions}};
    for (const auto& [name, most] : bounds) {
      if (is_set("UCX_", name) || is_set("UCX_IB_", name)) continue;
      const ucs_status_t set = library_->config_modify(config, name, std::to_string(most).c_str());
      if (set != UCS_OK) return set;
    }
    return UCS_OK;
  }
  for (const auto& [name, off, in_all_versions, methods] : kCaches) {
    if (names_no_cache(methods)) continue;
    const ucs_status_t set = library_->config_modify(config, name, off);
    if (set != UCS_OK && in_all_versions) return set;
  }
  return UCS_OK;
}

/// nullptr, or what could not be made.
const char* Worker::start(ucs_status_t* status) {
  ucp_config_t* config = nullptr;
  if ((*status = library_->config_read(nullptr, nullptr, &config)) != UCS_OK) return "its configuration";
  const char* const settings[][2] = {
      {"TLS", transports_.c_str()},
      {"NET_DEVICES", device_.c_str()},
      // Fragments of a frame over several devices would overtake each other.
      {"MAX_EAGER_RAILS", "1"},
  };
  for (const auto& [name, value] : settings)
    if (*status == UCS_OK) *status = library_->config_modify(config, name, value);
  if (*status == UCS_OK) *status = set_caches(config);
  // UCX has no flag that sends a tagged message eagerly; frames have one.
  if (tag_bits_ != 0 && *status == UCS_OK) *status = library_->config_modify(config, "RNDV_THRESH", "inf");
  for (const auto& [name, value, in_all_versions] : kOfTcp) {
    if (is_set("UCX_TCP_", name)) continue;
    // From UCX 1.17 on with the prefix. Older versions take every name, newer ones refuse those that they do not know.
    const ucs_status_t without = library_->config_modify(config, name, value);
    const ucs_status_t with = library_->config_modify(config, (std::string("TCP_") + name).c_str(), value);
    if (*status == UCS_OK && without != UCS_OK && in_all_versions) *status = with;
  }
  ucp_params_t parameters = {};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  parameters.features =
      UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (asks_ ? 0 : UCP_FEATURE_RMA) | (tag_bits_ != 0 ? UCP_FEATURE_TAG : 0);
  parameters.name = "ashlar";
  if (*status == UCS_OK) *status = library_->init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config, &context_);
  library_->config_release(config);
  return *status != UCS_OK ? "its context" : start_worker(status);
}

ucs_status_t Worker::make_worker(ucp_worker_h* out) const {
  ucp_worker_params_t worker = {};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  worker.am_alignment = alignof(network::Frame);
  return library_->worker_create(context_, &worker, out);
}

const char* Worker::start_worker(ucs_status_t* status) {
  if ((*status = make_worker(&worker_)) != UCS_OK) return "its worker";
  const std::pair<unsigned, ucp_am_recv_callback_t> handlers[] = {
      {kMessageId, arrived}, {kAskId, asked}, {kAnswerId, answered}};
  for (const auto& [id, callback] : handlers) {
    ucp_am_handler_param_t handler = {};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                         UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler.cb = callback;
    handler.arg = this;
    if ((*status = library_->worker_set_am_recv_handler(worker_, &handler)) != UCS_OK) return "its handlers";
  }
  if (library_->worker_get_efd(worker_, &wake_fd_) != UCS_OK) wake_fd_ = -1;
  return tag_bits_ != 0 ? start_tags(status) : nullptr;
}

ashlar_result Worker::open(const ashlar_host& host, const network::Place& place, Events& events) {
  events_ = &events;
  ashlar_result failed = ASHLAR_OK;
  library_ = Library::of_process(host, config_.library, config_.sessions.memory_hooks, &failed);
  if (library_ == nullptr) return failed;
  has_hooks_ = config_.sessions.memory_hooks && library_->has_hooks;
  choose(place);
  judge_tags();
  asks_ = transports_ == "tcp";
  last_cookie_ = random_nonce();
  sends_ = config_.sessions.sends;
  frame_bytes_ = static_cast<std::uint32_t>(network::frame_in(config_.sessions.frame_bytes));
  reads_ = true;
  unsigned major = 0, minor = 0, release = 0;
  library_->get_version(&major, &minor, &release);
  // Of another version it is not known whether it understands this one's addresses and messages.
  name_ = transports_ + " (" + std::to_string(major) + "." + std::to_string(minor) + ")";
  aligned_ = std::make_unique<std::byte[]>(frame_bytes_);
  ucs_status_t status = UCS_OK;
  if (device_.empty()) return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.no_interface", nullptr, 0);
  // UCX starts a thread, with the worker or with its cache of registrations.
  const BlockedSignals for_the_program;
  const char* const what = start(&status);
  if (what == nullptr) {
    judge_puts();
    return ASHLAR_OK;
  }
  const ashlar_fact facts[] = {{.name = "transports", .text = transports_.c_str(), .number = 0},
                               {.name = "devices", .text = device_.c_str(), .number = 0},
                               {.name = "what", .text = what, .number = 0},
                               {.name = "lower", .text = library_->status_string(status), .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.not_started", facts, std::size(facts));
}

std::vector<std::uint8_t> Worker::address() {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  if (library_->worker_get_address(worker_, &address, &length) != UCS_OK) return {};
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(address);
  std::vector<std::uint8_t> copy(bytes, bytes + length);
  library_->worker_release_address(worker_, address);
  return copy;
}

}  // namespace ashlar::ucx

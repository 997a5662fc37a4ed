#include "framework/runtime/wiring.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "framework/base/clock.h"
#include "framework/base/descriptor.h"
#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/memory/heap.h"
#include "framework/p2p/config.h"
#include "framework/p2p/setup.h"
#include "framework/param/table.h"
#include "framework/plugin/registry.h"
#include "framework/progress/lane.h"
#include "framework/runtime/events.h"
#include "framework/runtime/process.h"

namespace ashlar {
namespace {

// Published last.
constexpr char kAllPublished[] = "transport.all";
// Published by a process that cannot use some transport.
constexpr char kLeftOut[] = "transport.left_out";
constexpr std::size_t kMostReason = 600;
// Published by every process of a job with several, before any address.
constexpr char kSettings[] = "settings";
constexpr std::size_t kMostSettings = 4096;
// Of one transport: a host may have many interfaces.
constexpr std::uint32_t kMostAddress = 16 << 10;
// Of cards alone.
constexpr char kHost[] = "host";
constexpr char kJob[] = "job";

std::string key_of(const std::string& transport, unsigned lane) {
  return "transport." + transport + "." + std::to_string(lane);
}

/// What processes of one node have in common, whatever their job. Containers of one machine that have networks of
/// their own are different nodes: shared memory is asked for at sockets, which belong to a network.
std::string node_of_this_process() {
  char text[64];
  const Descriptor fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd ? read(fd.get(), text, sizeof text) : -1;
  std::string node(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  struct stat network;
  if (stat("/proc/self/ns/net", &network) == 0) node += " " + std::to_string(network.st_ino);
  return node;
}

int lasting_memory(void*, const void* address, std::uint64_t length, ashlar_lasting* out) {
  memory::LastingPages pages;
  if (!memory::Heap::own().lasting(address, length, &pages)) return 0;
  *out = {.address = pages.address, .length = pages.bytes, .serial = pages.serial};
  return 1;
}

void append(std::string* card, std::string_view text) {
  const auto bytes = static_cast<std::uint32_t>(text.size());
  card->append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  card->append(text);
}

/// False: the card ends before it.
bool take(std::string_view* card, std::string* text) {
  std::uint32_t bytes = 0;
  if (card->size() < sizeof bytes) return false;
  std::memcpy(&bytes, card->data(), sizeof bytes);
  card->remove_prefix(sizeof bytes);
  if (card->size() < bytes) return false;
  *text = card->substr(0, bytes);
  card->remove_prefix(bytes);
  return true;
}

}  // namespace

ashlar_result Wiring::get(PeerId peer, const std::string& key, void* buffer, std::size_t* bytes) {
  if (peer < process_.job->ranks) return process_.launch->ops->get(process_.launch, peer, key.c_str(), buffer, bytes);
  const std::lock_guard guard(mutex_);
  const auto card = cards_.find(peer);
  if (card == cards_.end()) return ASHLAR_LAUNCH_NOT_FOUND;
  const auto record = card->second.find(key);
  if (record == card->second.end() || record->second.size() > *bytes) return ASHLAR_LAUNCH_NOT_FOUND;
  *bytes = record->second.size();
  std::memcpy(buffer, record->second.data(), record->second.size());
  return ASHLAR_OK;
}

std::string Wiring::own_card() {
  const std::lock_guard guard(mutex_);
  std::string card;
  for (const auto& [key, blob] : published_) {
    append(&card, key);
    append(&card, blob);
  }
  return card;
}

Status Wiring::take_card(PeerId peer, std::string_view card) {
  Records records;
  for (std::string key; !card.empty();) {
    if (!take(&card, &key) || !take(&card, &records[key]))
      return fail(MPI_ERR_OTHER, "comm.cards_short", {{"count", 1}});
  }
  const std::string theirs = records[kSettings];
  {
    const std::lock_guard guard(mutex_);
    cards_[peer] = std::move(records);
  }
  return param::JobSettings::hash_of(theirs) == settings_ ? Status() : compare_settings(peer);
}

void Wiring::drop_card(PeerId peer) {
  const std::lock_guard guard(mutex_);
  cards_.erase(peer);
}

std::string Wiring::record_of(PeerId peer, const char* key) {
  const std::lock_guard guard(mutex_);
  const auto card = cards_.find(peer);
  if (card == cards_.end()) return {};
  const auto record = card->second.find(key);
  return record == card->second.end() ? std::string() : record->second;
}

std::string Wiring::name_of(PeerId peer) {
  const std::string rank = "rank " + std::to_string(process_.peers_->identity_of(peer).rank);
  return peer < process_.job->ranks ? rank : rank + " of job " + record_of(peer, kJob);
}

std::string Wiring::host_of_other(PeerId peer) { return record_of(peer, kHost); }

std::string Wiring::node_of(PeerId peer) { return record_of(peer, kNode); }

std::uint64_t Wiring::node_identity(PeerId peer) {
  const ashlar_job& job = *process_.job;
  if (peer >= job.ranks) return Hash::of(node_of(peer));
  const std::uint32_t node = process_.node_of(peer);
  if (node == job.node) return Hash::of(own_node());
  {
    const std::lock_guard guard(mutex_);
    if (const auto known = identities_.find(node); known != identities_.end()) return known->second;
  }
  const std::uint64_t identity = identity_of_node(node, peer);
  const std::lock_guard guard(mutex_);
  return identities_.emplace(node, identity).first->second;
}

/// A launcher that cannot say what the member has published leaves a node of its own, which no other job shares.
std::uint64_t Wiring::identity_of_node(std::uint32_t node, PeerId member) {
  char text[256];
  std::size_t bytes = sizeof text;
  if (wait_for_addresses(member) && get(member, kNode, text, &bytes) == ASHLAR_OK) return Hash::of({text, bytes});
  Hash hash;
  for (const std::uint64_t word : process_.peers_->own_identity().job) hash.add(word);
  hash.add(std::uint64_t{node});
  return hash.value();
}

Wiring::~Wiring() {
  for (auto way = ways_.rbegin(); way != ways_.rend(); ++way) way->component->destroy(way->iface);
}

ashlar_transport_context Wiring::context_for(Lane& lane) const {
  const ashlar_job& job = *process_.job;
  ashlar_transport_context context = {};
  context.size = sizeof context;
  context.lane = lane.index;
  context.self = job.rank;
  context.job_size = job.ranks;
  context.local_rank = job.local_rank;
  context.local_size = job.local_size;
  context.job_id = job.job_id;
  context.job_cookie = job.cookie;
  context.lanes = process_.peers_->lane_count();
  context.oversubscribed = job.oversubscribed != 0;
  context.lane_context = &lane;
  context.deliver = progress::deliver;
  context.failed = progress::failed;
  const Identity& own = process_.peers_->own_identity();
  std::copy(std::begin(own.job), std::end(own.job), context.job);
  context.peer_of = progress::peer_of_identity;
  context.lasting = lasting_memory;
  // Tags know no lanes, and what is checked travels in frames.
  const p2p::Config& p2p = process_.p2p_config_;
  if (context.lanes == 1 && !p2p.check_datatypes && !p2p.check_ready)
    context.tags_wanted = p2p.matching == p2p::kMatchingKernel   ? ASHLAR_TAGS_NEVER
                          : p2p.matching == p2p::kMatchingNative ? ASHLAR_TAGS_WHERE_WORKING
                                                                 : ASHLAR_TAGS_WHERE_PAYING;
  return context;
}

Status Wiring::open(Lane& lane) {
  ASHLAR_TRY(open_ways(lane, context_for(lane)));
  return ways_.empty() ? fail(MPI_ERR_OTHER, "transport.none", {{"reasons", left_out_}}) : Status();
}

/// Those that are open on the lane stay as they are.
Status Wiring::open_ways(Lane& lane, const ashlar_transport_context& context) {
  std::vector<plugin::Chosen> candidates;
  ASHLAR_TRY(process_.registry.select("transport", &context, &candidates));
  if (const auto decisions = process_.registry.records().of("transport"); lane.index == 0 && !decisions.empty())
    left_out_ = decisions.back().lost;
  std::string trouble;
  for (const plugin::Chosen& candidate : candidates) {
    const auto is_open = [&](const Way& way) { return way.lane == lane.index && way.component == candidate.component; };
    if (std::any_of(ways_.begin(), ways_.end(), is_open)) continue;
    ashlar_iface* iface = nullptr;
    const Status created = candidate.component->create(&context, &iface);
    const std::string name = candidate.component->name();
    if (!created.ok()) {
      // No job ends because one transport cannot start while another works.
      const std::string reason = plugin::own_words(created);
      trouble += (trouble.empty() ? "" : "; ") + name + ": " + reason;
      process_.registry.records().add({"transport", "start of " + name, "left out", reason, "", "transport"});
      continue;
    }
    ways_.push_back({candidate.component, iface, lane.index, key_of(name, lane.index)});
    lane.add_iface(iface, (candidate.capabilities & ASHLAR_CAP_SELF) != 0, candidate.component->name());
    p2p::use_tags(lane, *iface);
  }
  // What has failed comes first: sentences are cut, and the others were not wanted here anyway.
  if (lane.index == 0 && !trouble.empty()) left_out_ = trouble + (left_out_.empty() ? "" : "; ") + left_out_;
  return {};
}

/// A transport of networks takes no part while all processes are on one node. To them the processes that this one is
/// about to know are as if the job had one more, elsewhere.
void Wiring::open_networks() ASHLAR_NO_THREAD_SAFETY {
  if (networks_open_ || process_.job->nodes > 1) return;
  networks_open_ = true;
  const std::size_t before = ways_.size();
  for (const auto& lane : process_.lanes_) {
    ashlar_transport_context context = context_for(*lane);
    ++context.job_size;
    // What cannot be used is among the reasons when a peer is not reached.
    (void)open_ways(*lane, context).ok();
  }
  std::vector<std::uint8_t> blob(sizeof(runtime::Preamble) + kMostAddress);
  for (std::size_t i = before; i < ways_.size(); ++i) {
    if (std::size_t bytes = 0; read_address(ways_[i], &blob, &bytes).ok()) show(ways_[i], blob, bytes);
  }
  const std::lock_guard guard(mutex_);
  published_[kLeftOut] = left_out_.substr(0, kMostReason);
}

/// The preamble, and behind it the address of the way.
Status Wiring::read_address(const Way& way, std::vector<std::uint8_t>* blob, std::size_t* bytes) const {
  const runtime::Preamble preamble = own_preamble();
  std::memcpy(blob->data(), &preamble, sizeof preamble);
  std::uint32_t length = kMostAddress;
  *bytes = sizeof preamble;
  ASHLAR_TRY(plugin::from(way.iface->ops->address(way.iface, blob->data() + sizeof preamble, &length),
                          way.component->prefix()));
  *bytes += length;
  return {};
}

void Wiring::show(const Way& way, const std::vector<std::uint8_t>& blob, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  published_[way.key].assign(reinterpret_cast<const char*>(blob.data()), bytes);
}

runtime::Preamble Wiring::own_preamble() const {
  const param::Setting* const lanes = process_.params.find("threads.lanes");
  return runtime::make_preamble(settings_, process_.lanes_.size(), lanes ? lanes->origin : nullptr);
}

Status Wiring::publish() {
  const param::JobSettings& settings = process_.params.job_settings();
  settings_ = settings.hash();
  const std::string text = settings.publish(kMostSettings);
  published_[kSettings] = text;
  published_[kHost] = process_.host_of(process_.job->rank);
  published_[kNode] = own_node_ = node_of_this_process();
  published_[kJob] = process_.job_name();
  if (process_.job->ranks > 1) {
    const ashlar_result put = process_.launch->ops->put(process_.launch, kSettings, text.data(), text.size());
    if (put != ASHLAR_OK) return fail(MPI_ERR_OTHER, "settings.unpublished", {{"lower", process_.launch_reason(put)}});
  }
  // Processes of other jobs do not know the numbers that the launcher gives the nodes of this one.
  const std::string& node = published_[kNode];
  if (process_.job->nodes > 1) (void)process_.launch->ops->put(process_.launch, kNode, node.data(), node.size());
  std::vector<std::uint8_t> blob(sizeof(runtime::Preamble) + kMostAddress);
  for (const Way& way : ways_) {
    std::size_t bytes = 0;
    ASHLAR_TRY(read_address(way, &blob, &bytes));
    show(way, blob, bytes);
    const ashlar_result put = process_.launch->ops->put(process_.launch, way.key.c_str(), blob.data(), bytes);
    if (put != ASHLAR_OK)
      return fail(MPI_ERR_OTHER, "transport.unpublished",
                  {{"component", way.component->prefix()}, {"lower", process_.launch_reason(put)}});
  }
  // Where a peer has a transport and this process has not, the peer can say why.
  published_[kLeftOut] = left_out_.substr(0, kMostReason);
  if (process_.job->ranks > 1 && !left_out_.empty())
    (void)process_.launch->ops->put(process_.launch, kLeftOut, left_out_.data(),
                                    std::min(left_out_.size(), kMostReason));
  const std::uint8_t mark = 1;
  if (process_.job->ranks > 1) (void)process_.launch->ops->put(process_.launch, kAllPublished, &mark, sizeof mark);
  return {};
}

Status Wiring::compare_settings(PeerId peer) {
  char text[kMostSettings];
  std::size_t bytes = sizeof text;
  if (const ashlar_result got = get(peer, kSettings, text, &bytes); got != ASHLAR_OK) {
    const std::string reason = got == ASHLAR_LAUNCH_NOT_FOUND ? "it has published none" : process_.launch_reason(got);
    return fail(MPI_ERR_OTHER, "settings.unread",
                {{"peer", peer}, {"peer_host", process_.host_of(peer)}, {"lower", reason}});
  }
  const std::string_view published(text, bytes);
  if (param::JobSettings::hash_of(published) == settings_) return {};
  process_.params.declare(param::kernel_tables());
  process_.registry.declare_params();
  const param::JobSettings::Difference difference =
      process_.params.job_settings().compare(published, process_.params.schema());
  const std::string more = difference.more > 0 ? std::to_string(difference.more) + " more differ" : std::string();
  const PeerId self = process_.job->rank;
  return fail(MPI_ERR_OTHER, "settings.differ",
              {{"peer", peer},
               {"peer_host", process_.host_of(peer)},
               {"theirs", difference.theirs},
               {"self", self},
               {"host", process_.host_of(self)},
               {"own", difference.own},
               {"note", more}});
}

bool Wiring::wait_for_addresses(PeerId peer) {
  if (process_.addresses_complete || peer >= process_.job->ranks) return true;
  const std::uint64_t deadline = now_ns() + process_.start_timeout_ns();
  ashlar_launch* launch = process_.launch;
  for (;;) {
    std::uint8_t mark = 0;
    std::size_t bytes = sizeof mark;
    if (launch->ops->get(launch, peer, kAllPublished, &mark, &bytes) != ASHLAR_LAUNCH_NOT_FOUND) return true;
    if (now_ns() > deadline) return false;
    const timespec moment = {0, 200'000};
    nanosleep(&moment, nullptr);
  }
}

Status Wiring::address_of(PeerId peer, const Way& way, std::vector<std::uint8_t>* address, bool* one_lane,
                          bool* same_settings) {
  address->resize(sizeof(runtime::Preamble) + kMostAddress);
  std::size_t bytes = address->size();
  auto got = get(peer, way.key, address->data(), &bytes);
  *one_lane = got == ASHLAR_LAUNCH_NOT_FOUND && way.lane > 0;
  if (*one_lane) {
    bytes = address->size();
    got = get(peer, key_of(way.component->name(), 0), address->data(), &bytes);
  }
  if (got == ASHLAR_LAUNCH_NOT_FOUND) {
    char reason[kMostReason];
    std::size_t length = sizeof reason;
    const bool known = get(peer, kLeftOut, reason, &length) == ASHLAR_OK;
    return fail(MPI_ERR_OTHER, "transport.not_there", {{"note", std::string_view(reason, known ? length : 0)}});
  }
  if (got != ASHLAR_OK)
    return fail(MPI_ERR_OTHER, "transport.address_unread", {{"lower", process_.launch_reason(got)}});
  const runtime::Preamble own = own_preamble();
  const std::string host = process_.host_of(peer);
  runtime::PeerPreamble theirs{.preamble = {}, .complete = bytes >= sizeof own, .rank = peer, .host = host.c_str()};
  std::memcpy(&theirs.preamble, address->data(), std::min(bytes, sizeof theirs.preamble));
  const std::string difference = runtime::disagreement(own, process_.job->rank, theirs);
  if (!difference.empty()) return fail(MPI_ERR_OTHER, "transport.disagree", {{"difference", difference}});
  *same_settings = theirs.preamble.settings == own.settings;
  address->resize(bytes);
  return {};
}

Status Wiring::connect(void* self, Lane& lane, PeerId peer, ashlar_endpoint** endpoint, ashlar_iface** iface) {
  auto& wiring = *static_cast<Wiring*>(self);
  if (!wiring.wait_for_addresses(peer))
    return fail(MPI_ERR_OTHER, "peer.absent", {{"peer", peer}, {"peer_host", wiring.process_.host_of(peer)}});
  std::string lost;
  const Way* chosen = nullptr;
  bool gone = false;
  std::uint64_t tried = 0;
  for (const Way& way : wiring.ways_) {
    if (way.lane != lane.index) continue;
    std::vector<std::uint8_t> address;
    bool one_lane = false, same_settings = true;
    if (const Status read = wiring.address_of(peer, way, &address, &one_lane, &same_settings); !read.ok()) {
      lost += (lost.empty() ? "" : "; ") + std::string(way.component->name()) + ": " + read.text();
      continue;
    }
    if (!same_settings) return wiring.compare_settings(peer);
    const auto length = static_cast<std::uint32_t>(address.size() - sizeof(runtime::Preamble));
    const ashlar_result result =
        way.iface->ops->connect(way.iface, peer, address.data() + sizeof(runtime::Preamble), length, endpoint);
    const Status failed = result == ASHLAR_OK ? plugin::take_table(*endpoint, way.component->prefix())
                                              : plugin::from(result, way.component->prefix());
    if (failed.ok()) {
      chosen = &way;
      if (one_lane) lane.peers.get(peer)->one_lane.store(true, std::memory_order_relaxed);
      break;
    }
    ++tried;
    gone = failed.mpi_class() == MPI_ERR_PROC_ABORTED;
    lost += (lost.empty() ? "" : "; ") + std::string(way.component->name()) + ": " + plugin::own_words(failed);
    if (gone) break;  // no other way leads to a process that has ended
  }
  if (!wiring.left_out_.empty()) lost += (lost.empty() ? "" : "; ") + wiring.left_out_;
  if (!chosen) {
    // A rank that failed before it published its addresses is known to the launcher alone.
    wiring.process_.look_for_failed_ranks();
    if (const Peer* const known = lane.peers.find(peer); known != nullptr && known->failed.load()) {
      gone = true;
      lost = lane.peers.failure_reason(peer);
    }
    return fail(gone ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "transport.unreachable",
                {{"peer", peer}, {"peer_host", wiring.process_.host_of(peer)}, {"reasons", lost}});
  }
  *iface = chosen->iface;
  if (event::heard(runtime::transport_chosen)) [[unlikely]]
    event::raise(runtime::transport_chosen, nullptr,
                 {runtime::transport_word(chosen->component->name()), peer, lane.index,
                  ((*endpoint)->capabilities & ASHLAR_CAP_GET) != 0 ? 1u : 0u, tried});
  const char* copies = (*endpoint)->capabilities & ASHLAR_CAP_GET ? "with" : "without";
  char because[160];
  const std::string subject =
      peer < wiring.process_.job->ranks ? "peer " + std::to_string(peer) : "peer " + wiring.name_of(peer);
  std::snprintf(because, sizeof because, "first in order that reached it, proved by use, %s single-copy reads", copies);
  wiring.process_.registry.records().add({"transport", subject, chosen->component->name(), because, lost, "transport"});
  return {};
}

void Wiring::rest(bool resting) {
  for (const Way& way : ways_) {
    const LaneGuard guard(process_.lane(way.lane)->lock);
    const ashlar_iface_ops& ops = *way.iface->ops;
    if (ops.rest != nullptr) ops.rest(way.iface, resting ? 1 : 0);
  }
}

bool Wiring::idle(const Lane& lane) {
  return std::all_of(ways_.begin(), ways_.end(),
                     [&](const Way& way) { return way.lane != lane.index || way.iface->ops->idle(way.iface) != 0; });
}

}  // namespace ashlar

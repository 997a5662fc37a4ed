#include "framework/runtime/wiring.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/plugin/registry.h"
#include "framework/progress/lane.h"
#include "framework/runtime/process.h"
#include "framework/runtime/version.h"

namespace ashlar {
namespace {

/// Goes in front of every published address: peers that do not agree on it must not talk.
struct Preamble {
  std::uint32_t magic = 0x41534c31;
  std::uint32_t interface = ASHLAR_TRANSPORT_INTERFACE;
  char version[24] = {};
  std::uint64_t settings = 0;  // hash of the values that all must have in common (param/job_settings.h)
  // Which lane a communicator is on follows from their number. A process with one lane is understood by all
  // (p2p/route.h).
  std::uint32_t lanes = 1;
  char lanes_from[60] = {};  // where it was set; cut where it is longer
};
static_assert(std::has_unique_object_representations_v<Preamble>, "it is compared as bytes");

// Published last.
constexpr char kAllPublished[] = "transport.all";
// Published by a process that cannot use some transport.
constexpr char kLeftOut[] = "transport.left_out";
constexpr std::size_t kMostReason = 600;
// Published by every process of a job with several, before any address.
constexpr char kSettings[] = "settings";
constexpr std::size_t kMostSettings = 4096;

Preamble preamble_of(std::uint64_t settings, std::size_t lanes, const param::Store& params) {
  Preamble p;
  std::snprintf(p.version, sizeof p.version, "%s", kVersion);
  p.settings = settings;
  p.lanes = static_cast<std::uint32_t>(lanes);
  const param::Setting* const set = lanes > 1 ? params.find("threads.lanes") : nullptr;
  if (lanes > 1) std::snprintf(p.lanes_from, sizeof p.lanes_from, "%s", set != nullptr ? set->origin : "built in");
  return p;
}

/// Why the two cannot talk; empty: they can.
std::string disagreement(const Preamble& own, const Preamble& theirs, bool complete, PeerId self, PeerId peer,
                         const char* host) {
  const auto same = [&own](Preamble p) {
    p.settings = own.settings;  // compare_settings() has the words
    p.lanes = own.lanes;
    std::memcpy(p.lanes_from, own.lanes_from, sizeof p.lanes_from);
    return std::memcmp(&p, &own, sizeof own) == 0;
  };
  char text[400];
  if (!complete || !same(theirs)) {
    std::snprintf(text, sizeof text,
                  "rank %u on %s uses kernel %.23s with transport interface %u, this process %s with %u", peer, host,
                  theirs.version, theirs.interface, own.version, own.interface);
    return text;
  }
  if (own.lanes == theirs.lanes || own.lanes == 1 || theirs.lanes == 1) return {};
  std::snprintf(
      text, sizeof text,
      "rank %u on %s has threads.lanes %u (%.59s), this process, rank %u, has %u (%s): all ranks need the same", peer,
      host, theirs.lanes, theirs.lanes_from, self, own.lanes, own.lanes_from);
  return text;
}

std::string key_of(const std::string& transport, unsigned lane) {
  return "transport." + transport + "." + std::to_string(lane);
}

}  // namespace

Wiring::~Wiring() {
  for (auto way = ways_.rbegin(); way != ways_.rend(); ++way) way->component->destroy(way->iface);
}

Status Wiring::open(Lane& lane) {
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
  context.oversubscribed = job.oversubscribed != 0;
  context.lane_context = &lane;
  context.deliver = progress::deliver;
  context.failed = progress::failed;

  std::vector<plugin::Chosen> candidates;
  ASHLAR_TRY(process_.registry.select("transport", &context, &candidates));
  if (const auto decisions = process_.registry.records().of("transport"); lane.index == 0 && !decisions.empty())
    left_out_ = decisions.back().lost;
  std::string trouble;
  for (const plugin::Chosen& candidate : candidates) {
    void* module = nullptr;
    const Status created = candidate.component->create(&context, &module);
    const std::string name = candidate.component->name();
    if (!created.ok()) {
      // No job ends because one transport cannot start while another works.
      const char* const reason = plugin::own_words(created);
      trouble += (trouble.empty() ? "" : "; ") + name + ": " + reason;
      process_.registry.records().add({"transport", "start of " + name, "left out", reason, "", "transport"});
      continue;
    }
    auto* iface = static_cast<ashlar_iface*>(module);
    ways_.push_back({candidate.component, iface, lane.index, key_of(name, lane.index)});
    lane.add_iface(iface, (candidate.capabilities & ASHLAR_CAP_SELF) != 0);
  }
  if (lane.index == 0) left_out_ += (left_out_.empty() || trouble.empty() ? "" : "; ") + trouble;
  if (ways_.empty()) return fail(MPI_ERR_OTHER, "transport.none", {{"reasons", trouble}});
  return {};
}

Status Wiring::publish() {
  const param::JobSettings& settings = process_.params.job_settings();
  settings_ = settings.hash();
  if (process_.job->ranks > 1) {
    const std::string text = settings.publish(kMostSettings);
    if (process_.launch->ops->put(process_.launch, kSettings, text.data(), text.size()) != ASHLAR_LAUNCH_OK)
      return fail(MPI_ERR_OTHER, "settings.unpublished", {{"lower", process_.launch->ops->why(process_.launch)}});
  }
  std::uint8_t blob[sizeof(Preamble) + ASHLAR_ADDRESS_MAX];
  const Preamble preamble = preamble_of(settings_, process_.lanes_.size(), process_.params);
  std::memcpy(blob, &preamble, sizeof preamble);
  for (const Way& way : ways_) {
    std::uint32_t length = ASHLAR_ADDRESS_MAX;
    ASHLAR_TRY(
        plugin::from(way.iface->ops->address(way.iface, blob + sizeof preamble, &length), way.component->prefix()));
    const auto put = process_.launch->ops->put(process_.launch, way.key.c_str(), blob, sizeof preamble + length);
    if (put != ASHLAR_LAUNCH_OK)
      return fail(MPI_ERR_OTHER, "transport.unpublished",
                  {{"component", way.component->prefix()}, {"lower", process_.launch->ops->why(process_.launch)}});
  }
  // Where a peer has a transport and this process has not, the peer can say why.
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
  ashlar_launch* const launch = process_.launch;
  if (launch->ops->get(launch, peer, kSettings, text, &bytes) != ASHLAR_LAUNCH_OK)
    return fail(MPI_ERR_OTHER, "settings.unread",
                {{"peer", peer}, {"peer_host", process_.host_of(peer)}, {"lower", launch->ops->why(launch)}});
  const std::string_view published(text, bytes);
  if (param::JobSettings::hash_of(published) == settings_) return {};
  const param::JobSettings::Difference difference = process_.params.job_settings().compare(published);
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
  if (process_.addresses_complete) return true;
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
  address->resize(sizeof(Preamble) + ASHLAR_ADDRESS_MAX);
  std::size_t bytes = address->size();
  ashlar_launch* launch = process_.launch;
  auto got = launch->ops->get(launch, peer, way.key.c_str(), address->data(), &bytes);
  *one_lane = got == ASHLAR_LAUNCH_NOT_FOUND && way.lane > 0;
  if (*one_lane) {
    bytes = address->size();
    got = launch->ops->get(launch, peer, key_of(way.component->name(), 0).c_str(), address->data(), &bytes);
  }
  if (got == ASHLAR_LAUNCH_NOT_FOUND) {
    char reason[kMostReason];
    std::size_t length = sizeof reason;
    const bool known = launch->ops->get(launch, peer, kLeftOut, reason, &length) == ASHLAR_LAUNCH_OK;
    return fail(MPI_ERR_OTHER, "transport.not_there", {{"note", std::string_view(reason, known ? length : 0)}});
  }
  if (got != ASHLAR_LAUNCH_OK)
    return fail(MPI_ERR_OTHER, "transport.address_unread", {{"lower", launch->ops->why(launch)}});
  const Preamble own = preamble_of(settings_, process_.lanes_.size(), process_.params);
  Preamble theirs;
  std::memcpy(&theirs, address->data(), std::min(bytes, sizeof theirs));
  const std::string difference =
      disagreement(own, theirs, bytes >= sizeof own, process_.job->rank, peer, process_.host_of(peer));
  if (!difference.empty()) return fail(MPI_ERR_OTHER, "transport.disagree", {{"difference", difference}});
  *same_settings = theirs.settings == own.settings;
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
  for (const Way& way : wiring.ways_) {
    if (way.lane != lane.index) continue;
    std::vector<std::uint8_t> address;
    bool one_lane = false, same_settings = true;
    if (const Status read = wiring.address_of(peer, way, &address, &one_lane, &same_settings); !read.ok()) {
      lost += (lost.empty() ? "" : "; ") + std::string(way.component->name()) + ": " + read.text();
      continue;
    }
    if (!same_settings) return wiring.compare_settings(peer);
    const auto length = static_cast<std::uint32_t>(address.size() - sizeof(Preamble));
    const ashlar_result result =
        way.iface->ops->connect(way.iface, peer, address.data() + sizeof(Preamble), length, endpoint);
    if (result == ASHLAR_OK) {
      chosen = &way;
      if (one_lane) lane.peers.get(peer)->one_lane.store(true, std::memory_order_relaxed);
      break;
    }
    const Status failed = plugin::from(result, way.component->prefix());
    gone |= failed.mpi_class() == MPI_ERR_PROC_ABORTED;
    lost += (lost.empty() ? "" : "; ") + std::string(way.component->name()) + ": " + plugin::own_words(failed);
  }
  if (!wiring.left_out_.empty()) lost += (lost.empty() ? "" : "; ") + wiring.left_out_;
  if (!chosen)
    return fail(gone ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "transport.unreachable",
                {{"peer", peer}, {"peer_host", wiring.process_.host_of(peer)}, {"reasons", lost}});
  *iface = chosen->iface;
  const char* copies = (*endpoint)->capabilities & ASHLAR_CAP_GET ? "with" : "without";
  char subject[32], because[160];
  std::snprintf(subject, sizeof subject, "peer %u", peer);
  std::snprintf(because, sizeof because, "first in order that reached it, proved by use, %s single-copy reads", copies);
  wiring.process_.registry.records().add({"transport", subject, chosen->component->name(), because, lost, "transport"});
  return {};
}

void Wiring::rest(bool resting) {
  for (const Way& way : ways_) {
    const LaneGuard guard(process_.lane(way.lane)->lock);
    const ashlar_iface_ops& ops = *way.iface->ops;
    if (ops.size > offsetof(ashlar_iface_ops, rest) && ops.rest != nullptr) ops.rest(way.iface, resting ? 1 : 0);
  }
}

bool Wiring::idle(const Lane& lane) {
  return std::all_of(ways_.begin(), ways_.end(),
                     [&](const Way& way) { return way.lane != lane.index || way.iface->ops->idle(way.iface) != 0; });
}

}  // namespace ashlar

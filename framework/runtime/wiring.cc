#include "framework/runtime/wiring.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
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
  }
  if (lane.index == 0) left_out_ += (left_out_.empty() || trouble.empty() ? "" : "; ") + trouble;
  if (ways_.empty()) return fail(MPI_ERR_OTHER, "transport.none", {{"reasons", trouble}});
  return {};
}

runtime::Preamble Wiring::own_preamble() const {
  const param::Setting* const lanes = process_.params.find("threads.lanes");
  return runtime::make_preamble(settings_, process_.lanes_.size(), lanes ? lanes->origin : nullptr);
}

Status Wiring::publish() {
  const param::JobSettings& settings = process_.params.job_settings();
  settings_ = settings.hash();
  if (process_.job->ranks > 1) {
    const std::string text = settings.publish(kMostSettings);
    const ashlar_result put = process_.launch->ops->put(process_.launch, kSettings, text.data(), text.size());
    if (put != ASHLAR_OK) return fail(MPI_ERR_OTHER, "settings.unpublished", {{"lower", process_.launch_reason(put)}});
  }
  std::uint8_t blob[sizeof(runtime::Preamble) + ASHLAR_ADDRESS_MAX];
  const runtime::Preamble preamble = own_preamble();
  std::memcpy(blob, &preamble, sizeof preamble);
  for (const Way& way : ways_) {
    std::uint32_t length = ASHLAR_ADDRESS_MAX;
    ASHLAR_TRY(
        plugin::from(way.iface->ops->address(way.iface, blob + sizeof preamble, &length), way.component->prefix()));
    const ashlar_result put =
        process_.launch->ops->put(process_.launch, way.key.c_str(), blob, sizeof preamble + length);
    if (put != ASHLAR_OK)
      return fail(MPI_ERR_OTHER, "transport.unpublished",
                  {{"component", way.component->prefix()}, {"lower", process_.launch_reason(put)}});
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
  if (const ashlar_result got = launch->ops->get(launch, peer, kSettings, text, &bytes); got != ASHLAR_OK) {
    const std::string reason = got == ASHLAR_LAUNCH_NOT_FOUND ? "it has published none" : process_.launch_reason(got);
    return fail(MPI_ERR_OTHER, "settings.unread",
                {{"peer", peer}, {"peer_host", process_.host_of(peer)}, {"lower", reason}});
  }
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
  address->resize(sizeof(runtime::Preamble) + ASHLAR_ADDRESS_MAX);
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
    const bool known = launch->ops->get(launch, peer, kLeftOut, reason, &length) == ASHLAR_OK;
    return fail(MPI_ERR_OTHER, "transport.not_there", {{"note", std::string_view(reason, known ? length : 0)}});
  }
  if (got != ASHLAR_OK)
    return fail(MPI_ERR_OTHER, "transport.address_unread", {{"lower", process_.launch_reason(got)}});
  const runtime::Preamble own = own_preamble();
  runtime::PeerPreamble theirs{
      .preamble = {}, .complete = bytes >= sizeof own, .rank = peer, .host = process_.host_of(peer)};
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
    gone |= failed.mpi_class() == MPI_ERR_PROC_ABORTED;
    lost += (lost.empty() ? "" : "; ") + std::string(way.component->name()) + ": " + plugin::own_words(failed);
  }
  if (!wiring.left_out_.empty()) lost += (lost.empty() ? "" : "; ") + wiring.left_out_;
  if (!chosen)
    return fail(gone ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "transport.unreachable",
                {{"peer", peer}, {"peer_host", wiring.process_.host_of(peer)}, {"reasons", lost}});
  *iface = chosen->iface;
  if (event::heard(runtime::transport_chosen)) [[unlikely]]
    event::raise(runtime::transport_chosen, nullptr,
                 {runtime::transport_word(chosen->component->name()), peer, lane.index,
                  ((*endpoint)->capabilities & ASHLAR_CAP_GET) != 0 ? 1u : 0u, tried});
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
    if (ops.rest != nullptr) ops.rest(way.iface, resting ? 1 : 0);
  }
}

bool Wiring::idle(const Lane& lane) {
  return std::all_of(ways_.begin(), ways_.end(),
                     [&](const Way& way) { return way.lane != lane.index || way.iface->ops->idle(way.iface) != 0; });
}

}  // namespace ashlar

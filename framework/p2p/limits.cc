#include "framework/p2p/limits.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <string>

#include "framework/base/bytes_text.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/plugin/records.h"

namespace ashlar::p2p {
namespace {

std::string in_words(std::uint64_t bytes) {
  const std::string text = bytes_text(bytes);
  return text.ends_with('B') ? text : text + " bytes";
}

bool offers_reads(const ashlar_endpoint& endpoint) { return (endpoint.capabilities & ASHLAR_CAP_GET) != 0; }

/// The size at which a single copy with its handshake costs as much as an eager message, which is copied twice.
/// Infinite where a single copy does not pay, or there is none.
float break_even(const Config& config, const ashlar_endpoint& endpoint) {
  if (!offers_reads(endpoint) || !config.single_copy || endpoint.bandwidth_copy <= 0 ||
      endpoint.bandwidth_get <= endpoint.bandwidth_copy)
    return std::numeric_limits<float>::infinity();
  // A handshake costs about two more latencies and saves the second copy.
  const float gain_per_byte = 1 / endpoint.bandwidth_copy - 1 / endpoint.bandwidth_get;
  return 2 * endpoint.latency_ns / gain_per_byte;
}

std::uint32_t eager_limit_of(const Config& config, const ashlar_endpoint& endpoint) {
  std::uint64_t limit = config.eager_limit;
  if (limit == 0) {
    limit = endpoint.max_bcopy;
    const float even = break_even(config, endpoint);
    if (even < static_cast<float>(limit)) limit = static_cast<std::uint64_t>(even);
  }
  limit = std::min<std::uint64_t>(limit, endpoint.max_bcopy);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(limit, endpoint.max_short));
}

std::string chosen_for(const Config& config, const Link& link) {
  const ashlar_endpoint& endpoint = *link.endpoint;
  std::string chosen = "eager to " + in_words(link.eager_limit);
  const std::uint64_t reads = smallest_read(config, endpoint);
  if (!offers_reads(endpoint) || !config.single_copy)
    chosen += ", rendezvous with fragments above";
  else if (reads <= link.eager_limit)
    chosen += ", rendezvous with a single copy above";
  else
    chosen += ", rendezvous with fragments above, with a single copy from " + in_words(reads);
  const bool posts = (endpoint.capabilities & ASHLAR_CAP_POST) != 0 && !link.is_self &&
                     smallest_shared_post(config) != std::numeric_limits<MPI_Count>::max();
  if (posts)
    chosen += "; nonblocking receives posted in shared memory from " + in_words(smallest_shared_post(config, endpoint));
  return chosen;
}

std::string reason_for(const Config& config, const Link& link) {
  const ashlar_endpoint& endpoint = *link.endpoint;
  const std::string most = in_words(endpoint.max_bcopy) + ", the most that the transport takes at once";
  if (config.eager_limit != 0) {
    const std::string wanted = "p2p.eager_limit is " + in_words(config.eager_limit);
    if (link.eager_limit < config.eager_limit) return wanted + ", cut to " + most;
    if (link.eager_limit > config.eager_limit)
      return wanted + "; the transport takes " + in_words(endpoint.max_short) +
             " in a short message, which costs nothing more";
    return wanted;
  }
  const float even = break_even(config, endpoint);
  if (even >= static_cast<float>(std::numeric_limits<std::uint32_t>::max()))
    return "eager messages are bounded by " + most;
  char model[240];
  std::snprintf(model, sizeof model,
                "by the transport's cost model (latency %.0f ns, copies %.1f bytes/ns, single copies %.1f bytes/ns) a "
                "single copy with its handshake pays from %.0f bytes",
                static_cast<double>(endpoint.latency_ns), static_cast<double>(endpoint.bandwidth_copy),
                static_cast<double>(endpoint.bandwidth_get), static_cast<double>(even));
  return even < static_cast<float>(endpoint.max_bcopy) ? model
                                                       : std::string(model) + "; eager messages are bounded by " + most;
}

std::string lost_for(const Config& config, const ashlar_endpoint& endpoint) {
  if (!config.single_copy) return "single copy: p2p.single_copy is false";
  return offers_reads(endpoint) ? "" : "single copy: the transport cannot read the memory of this peer";
}

std::string subject_of(const Lane& lane, const Link& link) {
  const std::string peer = "peer " + std::to_string(link.peer->id);
  return lane.index == 0 ? peer : peer + " on lane " + std::to_string(lane.index);
}

/// Who matches the messages of a link, in a record of its own where there is a choice.
void decide_matching(Lane& lane, Link& link) ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  const char* const setting = "p2p.matching";
  if (state.native == nullptr) {
    if (state.config.matching == kMatchingNative && lane.records != nullptr && !link.is_self)
      lane.records->add({.topic = "transport",
                         .subject = "matching with " + subject_of(lane, link),
                         .chosen = "kernel",
                         .because = "no transport of this process matches tags, or several lanes, check.datatypes or "
                                    "check.ready need messages that the kernel matches",
                         .lost = "native",
                         .setting = setting});
    return;
  }
  const std::string why_not = state.native->judge(link);
  if (lane.records == nullptr || link.is_self) return;
  const bool native = link.native != nullptr;
  lane.records->add({.topic = "transport",
                     .subject = "matching with " + subject_of(lane, link),
                     .chosen = native ? "native" : "kernel",
                     .because = native ? "the transport matches tags at both ends, and " +
                                             std::string(state.config.matching == kMatchingNative
                                                             ? "p2p.matching is native"
                                                             : "does it at a lower cost than the kernel")
                                       : why_not,
                     .lost = native ? "kernel" : "native",
                     .setting = setting});
}

}  // namespace

void decide_limits(Lane& lane, Link& link) {
  const Config& config = lane.p2p->config;
  link.eager_limit = eager_limit_of(config, *link.endpoint);
  decide_matching(lane, link);
  if (lane.records == nullptr) return;
  lane.records->add({.topic = "p2p",
                     .subject = subject_of(lane, link),
                     .chosen = chosen_for(config, link),
                     .because = reason_for(config, link),
                     .lost = lost_for(config, *link.endpoint),
                     .setting = "p2p.eager_limit, p2p.get_min, p2p.single_copy, p2p.shared_posts"});
}

void record_throttle(Lane& lane, const Link& link) {
  if (lane.records == nullptr || lane.p2p->throttle_recorded) return;
  lane.p2p->throttle_recorded = true;
  lane.records->add({.topic = "p2p",
                     .subject = subject_of(lane, link),
                     .chosen = "rendezvous for messages of any size, until the peer resumes",
                     .because = "its unexpected messages, of " +
                                std::string(link.throttled_by_all ? "all processes together" : "this process") +
                                ", have more than " + in_words(link.throttle_limit) +
                                "; later throttling is counted there (performance variable p2p.throttles)",
                     .lost = "",
                     .setting = link.throttled_by_all ? "p2p.unexpected_total_limit" : "p2p.unexpected_limit"});
}

}  // namespace ashlar::p2p

#include "framework/p2p/pvars.h"

#include "framework/base/log.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/setup.h"
#include "framework/p2p/traffic.h"
#include "framework/plugin/pvar_lock.h"
#include "framework/plugin/pvars.h"

namespace ashlar::p2p {
namespace {

/// One value of a lane, read without its lock.
template <auto value>
void read_lane(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value(*static_cast<const LaneState*>(block));
}

/// One value of the process, which every lane knows: the first lane gives it.
template <auto value>
void read_process(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  const auto& state = *static_cast<const LaneState*>(block);
  const LaneGuard guard(state.nowhere.lane->lock);
  values[0] = state.nowhere.lane->index == 0 ? value(state) : 0;
}

template <auto pool>
constexpr ashlar_pvar_row in_use(const char* name, const char* help) {
  return plugin::computed_pvar(name, help, ASHLAR_PVAR_LEVEL,
                               read_lane<[](const LaneState& s) { return (s.*pool).out_level().get(); }>);
}
/// Requests of sends that a program or the library has: without those that wait in SentRequests for their next use.
void read_sends_in_use(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  const auto& state = *static_cast<const LaneState*>(block);
  const LaneGuard guard(state.nowhere.lane->lock);
  values[0] = state.sends.out() - state.sent_requests.idle();
}
template <auto pool>
constexpr ashlar_pvar_row storage(const char* name, const char* help) {
  return plugin::computed_pvar(name, help, ASHLAR_PVAR_LEVEL,
                               read_lane<[](const LaneState& s) { return (s.*pool).capacity_level().get(); }>);
}
template <auto pool>
constexpr ashlar_pvar_row limit(const char* name, const char* help) {
  return plugin::computed_pvar(name, help, ASHLAR_PVAR_SIZE,
                               read_lane<[](const LaneState& s) { return std::uint64_t{(s.*pool).limit()}; }>);
}

constexpr ashlar_pvar_row kPoolRows[] = {
    plugin::computed_pvar("shared_posts_now", "receives that are posted in shared memory", ASHLAR_PVAR_LEVEL,
                          read_lane<[](const LaneState& s) { return s.posts.level().get(); }>),
    plugin::computed_pvar("shared_posts", "receives that were posted in shared memory", ASHLAR_PVAR_COUNTER,
                          read_lane<[](const LaneState& s) { return s.posts.total().get(); }>),
    plugin::computed_pvar(
        "shared_writes", "messages that this process wrote to their end into a receive posted in shared memory",
        ASHLAR_PVAR_COUNTER, read_lane<[](const LaneState& s) { return s.post_writer.total().get(); }>),
    plugin::computed_pvar("shared_write_bytes", "bytes in these", ASHLAR_PVAR_AGGREGATE,
                          read_lane<[](const LaneState& s) { return s.post_writer.bytes().get(); }>),
    plugin::under_lane_lock(plugin::computed_pvar(
        "unexpected_limit",
        "bytes of unexpected messages kept of one sender (p2p.unexpected_limit). Takes a lock: not for signal handlers",
        ASHLAR_PVAR_SIZE, read_process<[](const LaneState& s) { return std::uint64_t{s.config.unexpected_limit}; }>)),
    plugin::under_lane_lock(plugin::computed_pvar(
        "unexpected_total_limit",
        "bytes of unexpected messages kept of all senders (p2p.unexpected_total_limit). Takes a lock: not for signal "
        "handlers",
        ASHLAR_PVAR_SIZE,
        read_process<[](const LaneState& s) { return std::uint64_t{s.config.unexpected_total_limit}; }>)),
    in_use<&LaneState::receives>("receives", "requests of receives that are in use"),
    storage<&LaneState::receives>("receives_storage", "requests of receives that there is storage for; it only grows"),
    limit<&LaneState::receives>("receives_limit", "the most requests of receives (p2p.request_limit, of each lane)"),
    plugin::under_lane_lock(
        plugin::computed_pvar("sends", "requests of sends that are in use. Takes a lock: not for signal handlers",
                              ASHLAR_PVAR_LEVEL, read_sends_in_use)),
    storage<&LaneState::sends>("sends_storage", "requests of sends that there is storage for; it only grows"),
    limit<&LaneState::sends>("sends_limit", "the most requests of sends (p2p.request_limit, of each lane)"),
    in_use<&LaneState::pulls>("pulls", "reads of the sender's memory that are under way"),
    storage<&LaneState::pulls>("pulls_storage", "such reads that there is storage for; it only grows"),
    in_use<&LaneState::controls>("controls", "answers to peers that wait for room in a transport"),
    storage<&LaneState::controls>("controls_storage", "such answers that there is storage for; it only grows"),
    storage<&LaneState::arrivals>("arrivals_storage", "kept messages that there are headers for; it only grows"),
    in_use<&LaneState::messages>("messages", "message handles of MPI_Mprobe that are not received yet"),
    in_use<&LaneState::pairs>("pairs", "requests of MPI_Isendrecv and its like that are in use"),
    in_use<&LaneState::generalized>("generalized", "generalized requests that are in use"),
    limit<&LaneState::pairs>("pairs_limit", "the most such requests (p2p.request_limit, of each lane)"),
    storage<&LaneState::pairs>("pairs_storage", "such requests that there is storage for; it only grows"),
    storage<&LaneState::messages>("messages_storage", "message handles that there is storage for; it only grows"),
    in_use<&LaneState::arrivals>("arrivals", "headers of kept messages that are in use"),
    limit<&LaneState::generalized>("generalized_limit",
                                   "the most generalized requests (p2p.request_limit, of each lane)"),
    in_use<&LaneState::flushes>("flushes", "requests of MPI_Comm_iflush_buffer and its like that are in use"),
    limit<&LaneState::flushes>("flushes_limit", "the most such requests (p2p.request_limit, of each lane)"),
    in_use<&LaneState::kept_offers>("kept_offers", "offers of partitioned sends that no receive has taken yet"),
    limit<&LaneState::kept_offers>("kept_offers_limit", "the most such offers (p2p.request_limit, of each lane)"),
    in_use<&LaneState::refused_offers>(
        "refused_offers",
        "envelopes of partitioned sends that count offers which there was no room for, in their order"),
    limit<&LaneState::refused_offers>("refused_offers_limit",
                                      "the most such envelopes (p2p.request_limit, of each lane)"),
    limit<&LaneState::part_sends>("part_sends_limit",
                                  "the most requests of partitioned sends (p2p.request_limit, of each lane)"),
    limit<&LaneState::part_receives>("part_receives_limit",
                                     "the most requests of partitioned receives (p2p.request_limit, of each lane)"),
    in_use<&LaneState::part_sends>("part_sends", "requests of partitioned sends that are in use"),
    in_use<&LaneState::part_receives>("part_receives", "requests of partitioned receives that are in use"),
};

const Comm& as_comm(const void* object) { return *static_cast<const Comm*>(object); }

/// Sums `part(arrival)` over the unexpected messages of a communicator.
template <auto part>
void sum_unexpected(const ashlar_pvar_row*, const void*, const void* object, std::uint64_t* values, std::uint32_t) {
  const Comm& comm = as_comm(object);
  const LaneGuard guard(comm.lane->lock);
  for (const match::Message& message : comm.lane->p2p->unexpected.in_order()) {
    if ((message.key.context() & ~1u) == comm.context) values[0] += part(static_cast<const Arrival&>(message));
  }
}

void count_posted(const ashlar_pvar_row*, const void*, const void* object, std::uint64_t* values, std::uint32_t) {
  const Comm& comm = as_comm(object);
  const LaneGuard guard(comm.lane->lock);
  comm.lane->p2p->posted.table().each([&](const match::Entry& entry) {
    if ((entry.key.context() & ~1u) == comm.context) ++values[0];
  });
  if (comm.lane->p2p->native == nullptr) return;
  comm.lane->p2p->native->each([&](const RecvRequest& r) {
    if ((r.key.context() & ~1u) == comm.context) ++values[0];
  });
}

/// How many ranks there are for `object`, whose messages are counted from now on: a tool allocates a handle.
std::uint32_t begin_counting(const void* object) {
  auto& comm = *static_cast<Comm*>(const_cast<void*>(object));
  if (!count_traffic(comm))
    ASHLAR_LOG(error, "p2p", "no memory to count the messages of '%s': its variables stay zero", comm.name.c_str());
  return static_cast<std::uint32_t>(comm.remote_size);
}

template <auto word>
void read_traffic(const ashlar_pvar_row*, const void*, const void* object, std::uint64_t* values, std::uint32_t count) {
  const Traffic* const traffic = as_comm(object).traffic.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; traffic != nullptr && i < count; ++i) values[i] = (traffic->ranks[i].*word).get();
}

constexpr ashlar_pvar_row kCommRows[] = {
    plugin::comm_pvar("sent", "messages sent to each rank of the communicator, those of its collectives included",
                      ASHLAR_PVAR_COUNTER, read_traffic<&Traffic::OfRank::sent>, begin_counting),
    plugin::comm_pvar("sent_bytes", "bytes of data in messages sent to each rank of the communicator",
                      ASHLAR_PVAR_AGGREGATE, read_traffic<&Traffic::OfRank::sent_bytes>, begin_counting),
    plugin::comm_pvar("received",
                      "messages of each rank of the communicator that a receive has taken, those of its collectives "
                      "included",
                      ASHLAR_PVAR_COUNTER, read_traffic<&Traffic::OfRank::received>, begin_counting),
    plugin::comm_pvar("received_bytes", "bytes of data in messages of each rank that a receive has taken",
                      ASHLAR_PVAR_AGGREGATE, read_traffic<&Traffic::OfRank::received_bytes>, begin_counting),
    plugin::under_lane_lock(plugin::comm_pvar(
        "unexpected",
        "messages on the communicator that no receive has asked for. Goes through a queue under a lock: "
        "not for signal handlers",
        ASHLAR_PVAR_LEVEL, sum_unexpected<[](const Arrival&) { return std::uint64_t{1}; }>)),
    plugin::under_lane_lock(plugin::comm_pvar(
        "unexpected_bytes",
        "bytes of memory in messages on the communicator that no receive has asked for. Goes through a "
        "queue under a lock: not for signal handlers",
        ASHLAR_PVAR_LEVEL, sum_unexpected<[](const Arrival& a) { return std::uint64_t{a.weight()}; }>)),
    plugin::under_lane_lock(plugin::comm_pvar(
        "posted",
        "receives on the communicator that wait for a message. Goes through a table under a lock: not for "
        "signal handlers",
        ASHLAR_PVAR_LEVEL, count_posted)),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kPoolRows;
const std::span<const ashlar_pvar_row> comm_rows = kCommRows;

void add_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  plugin::pvar_sets().add("p2p", kCounterRows, &lane.p2p->counters);
  plugin::pvar_sets().add("p2p", kPoolRows, lane.p2p);
}

void remove_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  if (lane.p2p == nullptr) return;
  plugin::pvar_sets().remove(kCounterRows, &lane.p2p->counters);
  plugin::pvar_sets().remove(kPoolRows, lane.p2p);
}

}  // namespace ashlar::p2p

#include "framework/p2p/pvars.h"

#include "framework/p2p/lane_state.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/pvars.h"

namespace ashlar::p2p {
namespace {

/// One value of a lane, read without its lock.
template <auto value>
void read_lane(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value(*static_cast<const LaneState*>(block));
}

template <auto pool>
constexpr ashlar_pvar_row in_use(const char* name, const char* help) {
  return plugin::computed_pvar(name, help, ASHLAR_PVAR_LEVEL,
                               read_lane<[](const LaneState& s) { return (s.*pool).out_level().get(); }>);
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
    in_use<&LaneState::receives>("receives", "requests of receives that are in use"),
    storage<&LaneState::receives>("receives_storage", "requests of receives that there is storage for; it only grows"),
    limit<&LaneState::receives>("receives_limit", "the most requests of receives (p2p.request_limit, of each lane)"),
    in_use<&LaneState::sends>("sends", "requests of sends that are in use"),
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
}

constexpr ashlar_pvar_row kCommRows[] = {
    plugin::comm_pvar("unexpected",
                      "messages on the communicator that no receive has asked for. Goes through a queue under a lock: "
                      "not for signal handlers",
                      ASHLAR_PVAR_LEVEL, sum_unexpected<[](const Arrival&) { return std::uint64_t{1}; }>),
    plugin::comm_pvar("unexpected_bytes",
                      "bytes of memory in messages on the communicator that no receive has asked for. Goes through a "
                      "queue under a lock: not for signal handlers",
                      ASHLAR_PVAR_LEVEL, sum_unexpected<[](const Arrival& a) { return std::uint64_t{a.weight()}; }>),
    plugin::comm_pvar(
        "posted",
        "receives on the communicator that wait for a message. Goes through a table under a lock: not for "
        "signal handlers",
        ASHLAR_PVAR_LEVEL, count_posted),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kPoolRows;
const std::span<const ashlar_pvar_row> comm_rows = kCommRows;

void add_pvars(Lane& lane) {
  plugin::pvar_sets().add("p2p", kCounterRows, &lane.p2p->counters);
  plugin::pvar_sets().add("p2p", kPoolRows, lane.p2p);
}

void remove_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  if (lane.p2p == nullptr) return;
  plugin::pvar_sets().remove(kCounterRows, &lane.p2p->counters);
  plugin::pvar_sets().remove(kPoolRows, lane.p2p);
}

}  // namespace ashlar::p2p

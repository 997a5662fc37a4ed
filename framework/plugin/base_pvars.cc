#include "framework/plugin/base_pvars.h"

#include "framework/base/event.h"
#include "framework/base/failure_ring.h"
#include "framework/base/status.h"

namespace ashlar::plugin {
namespace {

template <auto value>
void read(const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value();
}

constexpr ashlar_pvar_row kFailureRows[] = {
    computed_pvar("failures", "failures recorded, those that the library dealt with by itself included",
                  ASHLAR_PVAR_COUNTER, read<[] { return FailureRing::counters.failures.load(); }>),
    computed_pvar("failure_rings", "threads that have a ring of their latest failures", ASHLAR_PVAR_LEVEL,
                  read<[] { return FailureRing::counters.rings.load(); }>),
    computed_pvar("failure_ring_slots", "failures that a thread remembers, the newest ones", ASHLAR_PVAR_SIZE,
                  read<[] { return std::uint64_t{Status::kRingSlots}; }>),
};

constexpr ashlar_pvar_row kEventRows[] = {
    computed_pvar("events", "events raised while a tool listened to them, dropped ones included", ASHLAR_PVAR_COUNTER,
                  read<[] { return event::counters.raised.load(); }>),
    computed_pvar("events_dropped", "of these, those that found a full queue (tools.event_queue)", ASHLAR_PVAR_COUNTER,
                  read<[] { return event::counters.dropped.load(); }>),
    computed_pvar("events_queued", "events that wait in the queues of all threads", ASHLAR_PVAR_LEVEL,
                  read<[] { return event::counters.queued.load(); }>),
    computed_pvar("events_queued_peak", "the most events that waited in the queue of one thread, since the start",
                  ASHLAR_PVAR_LEVEL, read<[] { return event::counters.most.load(); }>),
};

}  // namespace

const std::span<const ashlar_pvar_row> failure_rows = kFailureRows;
const std::span<const ashlar_pvar_row> event_rows = kEventRows;

}  // namespace ashlar::plugin

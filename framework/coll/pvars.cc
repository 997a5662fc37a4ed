#include "framework/coll/pvars.h"

#include "framework/coll/lane_collectives.h"
#include "framework/object/comm.h"
#include "framework/plugin/pvars.h"

namespace ashlar::coll {
namespace {

template <auto value>
void read_lane(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value(*static_cast<const LaneCollectives*>(block));
}

template <auto value>
constexpr ashlar_pvar_row of_lane(const char* name, const char* help, ashlar_pvar_class kind) {
  return plugin::computed_pvar(name, help, kind, read_lane<value>);
}

constexpr ashlar_pvar_row kPoolRows[] = {
    of_lane<[](const LaneCollectives& own) { return own.flights.out_level().get(); }>(
        "requests", "requests of collectives that are in use, persistent ones included", ASHLAR_PVAR_LEVEL),
    of_lane<[](const LaneCollectives& own) { return own.flights.capacity_level().get(); }>(
        "requests_storage", "such requests that there is storage for; it only grows", ASHLAR_PVAR_LEVEL),
    of_lane<[](const LaneCollectives& own) { return std::uint64_t{own.flights.limit()}; }>(
        "requests_limit", "the most such requests (coll.request_limit, of each lane)", ASHLAR_PVAR_SIZE),
};

void read_collectives(const ashlar_pvar_row*, const void*, const void* object, std::uint64_t* values, std::uint32_t) {
  values[0] = __atomic_load_n(&static_cast<const Comm*>(object)->collective_sequence, __ATOMIC_RELAXED);
}

void read_context(const ashlar_pvar_row*, const void*, const void* object, std::uint64_t* values, std::uint32_t) {
  values[0] = static_cast<const Comm*>(object)->context;
}

constexpr ashlar_pvar_row kCommRows[] = {
    plugin::comm_pvar("collectives", "collectives begun on the communicator, persistent ones once; modulo 2^32",
                      ASHLAR_PVAR_COUNTER, read_collectives),
    plugin::comm_pvar("context", "the number of the communicator's context, which events call it by", ASHLAR_PVAR_SIZE,
                      read_context),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kPoolRows;
const std::span<const ashlar_pvar_row> comm_rows = kCommRows;

void add_pvars(const LaneCollectives& own) {
  plugin::pvar_sets().add("coll", kCounterRows, &own.counters);
  plugin::pvar_sets().add("coll", kPoolRows, &own);
}

void remove_pvars(const LaneCollectives& own) {
  plugin::pvar_sets().remove(kCounterRows, &own.counters);
  plugin::pvar_sets().remove(kPoolRows, &own);
}

}  // namespace ashlar::coll

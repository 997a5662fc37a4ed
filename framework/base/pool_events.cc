#include "framework/base/pool_events.h"

namespace ashlar {
namespace {

constexpr std::uint8_t kTunerDetail = 0x12;  // ASHLAR_TUNER_DETAIL of param_row.h, which this room does not see

constexpr const char* kPools[] = {"another",
                                  "p2p.receives",
                                  "p2p.sends",
                                  "p2p.pulls",
                                  "p2p.controls",
                                  "p2p.arrivals",
                                  "p2p.messages",
                                  "p2p.pairs",
                                  "p2p.generalized",
                                  "p2p.flushes",
                                  "p2p.part_sends",
                                  "p2p.part_receives",
                                  "p2p.kept_offers",
                                  "coll.requests",
                                  "comm.alive",
                                  "datatype.alive",
                                  "object.groups",
                                  "object.infos",
                                  "object.errhandlers",
                                  "datatype.operations",
                                  "runtime.sessions",
                                  "comm.duplications",
                                  "rma.windows",
                                  "rma.requests",
                                  "io.files",
                                  "io.requests",
                                  nullptr};

constexpr event::Field kGrownFields[] = {
    {.name = "pool", .type = event::FieldType::kInt}, {.name = "capacity"}, {.name = "limit"}};
constexpr event::Field kLimitFields[] = {{.name = "pool", .type = event::FieldType::kInt}, {.name = "limit"}};

}  // namespace

void tell_grown(PoolName pool, std::size_t capacity, std::size_t limit) {
  if (event::heard(pool_grown)) event::raise(pool_grown, nullptr, {static_cast<std::uint64_t>(pool), capacity, limit});
}

void tell_limit_met(PoolName pool, std::size_t limit) {
  if (event::heard(pool_limit_met)) event::raise(pool_limit_met, nullptr, {static_cast<std::uint64_t>(pool), limit});
}

constinit event::Type pool_grown = {
    .name = "base.pool_grown",
    .help =
        "A pool got storage for more objects. Fields: the performance variable that counts its objects, objects that "
        "there is storage for now, the most that there may be (2^64 - 1: no limit).",
    .fields = kGrownFields,
    .verbosity = kTunerDetail,
    .choices = kPools};

constinit event::Type pool_limit_met = {
    .name = "base.pool_limit_met",
    .help =
        "An object was asked of a pool that has given out as many as it may; the call fails. Fields: the performance "
        "variable that counts its objects, the limit.",
    .fields = kLimitFields,
    .verbosity = kTunerDetail,
    .choices = kPools};

}  // namespace ashlar

#include "framework/rma/pvars.h"

#include "framework/rma/engine.h"

namespace ashlar::rma {
namespace {

template <auto pool>
void read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const Engine*>(block)->*pool).out_level().get();
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("windows", "windows that exist", ASHLAR_PVAR_LEVEL, read<&Engine::windows>,
                          ASHLAR_USER_BASIC),
    plugin::computed_pvar("requests", "requests of one-sided operations that are in use", ASHLAR_PVAR_LEVEL,
                          read<&Engine::requests>),
};

void read_gates(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = static_cast<const Counters*>(block)->gates_closed.load(std::memory_order_relaxed);
}

constexpr ashlar_pvar_row kCounterRows[] = {
    plugin::computed_pvar("gates_closed",
                          "times this process fenced all others to keep them out of a target's memory for an "
                          "accumulate of many elements (rma.range_elements)",
                          ASHLAR_PVAR_COUNTER, read_gates),
};

}  // namespace

constinit Counters counters;
const std::span<const ashlar_pvar_row> counter_rows = kCounterRows;
const std::span<const ashlar_pvar_row> pool_rows = kRows;

}  // namespace ashlar::rma

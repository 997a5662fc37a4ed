#include "framework/comm/pvars.h"

namespace ashlar::comm {
namespace {

template <auto value>
void read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value(*static_cast<const Counters*>(block));
}

template <auto counter>
constexpr ashlar_pvar_row count(const char* name, const char* help, std::uint8_t verbosity = ASHLAR_TUNER_DETAIL) {
  return plugin::computed_pvar(name, help, ASHLAR_PVAR_COUNTER,
                               read<[](const Counters& all) { return (all.*counter).load(std::memory_order_relaxed); }>,
                               verbosity);
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("alive", "communicators that exist, predefined and inner ones included", ASHLAR_PVAR_LEVEL,
                          read<[](const Counters&) { return alive().get(); }>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("duplications", "requests of MPI_Comm_idup and its like that are in use", ASHLAR_PVAR_LEVEL,
                          read<[](const Counters&) { return duplications(); }>),
    count<&Counters::made>("made", "communicators made, predefined and inner ones included", ASHLAR_USER_BASIC),
    count<&Counters::made_inter>("made_inter", "of these, intercommunicators"),
    count<&Counters::freed>("freed", "communicators destroyed", ASHLAR_USER_BASIC),
    count<&Counters::freed_later>("freed_later",
                                  "of these, those whose lane was in use when their last reference went"),
    count<&Counters::named>("named", "names given with MPI_Comm_set_name"),
};

}  // namespace

constinit Counters counters;
const std::span<const ashlar_pvar_row> process_rows = kRows;

}  // namespace ashlar::comm

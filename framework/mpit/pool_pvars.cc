#include "framework/mpit/pool_pvars.h"

namespace ashlar::mpit {
namespace {

template <auto value>
void read(const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value();
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("cvar_handles", "handles of control variables that tools have (tools.handle_limit)",
                          ASHLAR_PVAR_LEVEL, read<cvar_handles>),
    plugin::computed_pvar("pvar_handles", "handles of performance variables that tools have (tools.handle_limit)",
                          ASHLAR_PVAR_LEVEL, read<pvar_handles>),
    plugin::computed_pvar("registrations", "registrations of events that tools have (tools.handle_limit)",
                          ASHLAR_PVAR_LEVEL, read<registrations>),
    plugin::computed_pvar("sessions", "sessions of performance variables that tools have (tools.session_limit)",
                          ASHLAR_PVAR_LEVEL, read<pvar_sessions>),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kRows;

}  // namespace ashlar::mpit

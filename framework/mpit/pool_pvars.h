#pragma once
#include <span>

#include "framework/plugin/pvar_row.h"

namespace ashlar::mpit {

/// How many handles and sessions tools have. The values are the process's; any block stands
/// for them.
extern const std::span<const ashlar_pvar_row> pool_rows;

/// Handles of each kind that exist.
std::uint64_t cvar_handles();
std::uint64_t pvar_handles();
std::uint64_t pvar_sessions();
std::uint64_t registrations();

}  // namespace ashlar::mpit

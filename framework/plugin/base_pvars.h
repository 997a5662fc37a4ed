#pragma once
#include <span>

#include "framework/plugin/pvar_row.h"

namespace ashlar::plugin {

/// What the base room counts, which does not know performance variables: failures and their rings, and the queues of
/// events. The values are the process's; any block stands for them.
extern const std::span<const ashlar_pvar_row> failure_rows, event_rows;

}  // namespace ashlar::plugin

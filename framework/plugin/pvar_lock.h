#pragma once
#include "framework/plugin/component.h"

namespace ashlar::plugin {

/// `row`, whose read takes a lane's lock: signal handlers must not read it, nor must code that may hold the lock. The
/// mark is the kernel's own, in a field that components leave zero.
constexpr ashlar_pvar_row under_lane_lock(ashlar_pvar_row row) {
  row.reserved = 1;
  return row;
}
constexpr bool takes_lane_lock(const ashlar_pvar_row& row) { return row.reserved == 1; }

}  // namespace ashlar::plugin

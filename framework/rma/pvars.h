#pragma once
#include <span>

#include "framework/plugin/pvar_row.h"

namespace ashlar::rma {

/// The windows and requests that exist; the block is an Engine.
extern const std::span<const ashlar_pvar_row> pool_rows;

}  // namespace ashlar::rma

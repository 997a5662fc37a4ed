#pragma once
#include <span>

#include "framework/plugin/component.h"

namespace ashlar::io {

/// Of an Engine.
extern const std::span<const ashlar_pvar_row> pool_rows;

}  // namespace ashlar::io

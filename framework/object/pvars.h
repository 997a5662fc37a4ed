#pragma once
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar {

/// Objects that exist, in use by others included.
const Counter& groups_alive();
const Counter& infos_alive();
const Counter& errhandlers_alive();

namespace object {

/// What there is of these, and the limit of each kind; the rows need no block.
extern const std::span<const ashlar_pvar_row> alive_rows;

}  // namespace object
}  // namespace ashlar

#pragma once
#include <span>

#include "framework/param/param_row.h"

namespace ashlar::param {

/// The rows of one owner. `prefix` is "p2p" for a room of the kernel, "transport.shm" for a component, and "" for rows
/// whose names are whole keys (the selection lists). The rows must outlive every store they are declared to.
struct Table {
  const char* prefix;
  std::span<const ashlar_param> rows;
};

/// Every room's rows, in one list without static constructors. Defined in framework/tools/kernel_rows.cc, the one place
/// that sees every room.
std::span<const Table> kernel_tables();

}  // namespace ashlar::param

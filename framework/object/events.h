#pragma once
#include <atomic>
#include <cstdint>

#include "framework/base/event.h"
#include "framework/base/status.h"
#include "framework/object/errhandler.h"
#include "framework/plugin/pvar_row.h"

/// What error handlers tell tools (docs/tools.md).
namespace ashlar {

extern constinit event::Type handler_called;

/// Failed calls by what their error handler does; any thread.
struct ErrorCounters {
  std::atomic<std::uint64_t> raised{0}, returned{0}, called{0};
};
extern constinit ErrorCounters error_counters;
/// The block is `error_counters`.
extern const std::span<const ashlar_pvar_row> error_rows;

/// Counts a failure of class `mpi_class` that `handler` gets now, raised on `on` or on no object, and tells of it. The
/// caller holds no lock.
void tell_handler_called(const Errhandler& handler, int mpi_class, const Object* on);

}  // namespace ashlar

#pragma once
#include <string>

#include "framework/plugin/report.h"

namespace ashlar::plugin {

/// The name of the file that `pattern` (parameter report.json.file) gives the records of one process: %r becomes its
/// rank, or "launcher", %p its number.
std::string report_file_name(const std::string& pattern, const ashlar_report_context& context);

/// Opens it to append records. A FIFO without a reader does not hold the process up. With more rights than its user
/// (`elevated`) the process follows no link that this user may have placed, and makes files for itself. -1: see errno.
int open_report_file(const std::string& name, bool elevated);

}  // namespace ashlar::plugin

#pragma once
#include <string>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// Opens a file for writing, empty, and makes missing folders. Appends, so that two descriptors or a log rotation that
/// truncates never leave holes. In a folder that all users can write to (/tmp) other users may have prepared what lies
/// under the name: mpiexec follows no symbolic link of theirs on the way, and writes into no file of theirs and none
/// with a second name. The last part of the path is never followed.
Status open_output_file(const std::string& path, int* opened);

}  // namespace ashlar::mpiexec

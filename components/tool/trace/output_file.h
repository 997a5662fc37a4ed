#pragma once
#include <string>
#include <string_view>

namespace ashlar::tool_trace {

/// Writes the file beside its place and renames it, so that what reads it sees the old text or the new one. Another
/// file of this name is replaced, a symbolic link too, but nothing else than a file. Returns 0 or the
/// error number.
int replace_file(const std::string& name, std::string_view contents);

}  // namespace ashlar::tool_trace

#pragma once
#include <cstdint>
#include <string>

#include "framework/base/status.h"

namespace ashlar {
class Info;
}
namespace ashlar::io {

class OpenFile;

/// Takes over what `info` (nullptr: nothing) says. Hints change no result, so unknown keys and values that make no
/// sense are left alone; `told` (nullptr: no record is wanted) says of each key what came of it.
Status read_hints(const Info* info, OpenFile* file, std::string* told = nullptr);
/// Keeps a decision record of what came of the hints of a call. "": there were none.
void record_hints(const OpenFile& file, const char* call, const std::string& told);
/// All hints in force, into `info`.
Status write_hints(const OpenFile& file, Info& info);
/// Of a file that is created: key file_perm, octal.
std::uint32_t permissions_of(const OpenFile& file);

}  // namespace ashlar::io

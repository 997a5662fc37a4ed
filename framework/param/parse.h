#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/base/status.h"
#include "framework/param/param_row.h"

namespace ashlar::param {

/// A value in the form its row's type asks for. Texts are views into what was parsed.
struct Parsed {
  ashlar_param_type type = ASHLAR_PARAM_STRING;
  union {
    bool flag;
    std::int64_t i64;
    std::uint64_t u64;  // also bytes, and nanoseconds of a duration
    double f64;
    std::int32_t choice;
  };
  std::string_view text;
};

/// Reads `text` as the type of `row`, and holds it against the row's range. Fails with MPI_ERR_ARG and a sentence that
/// says what was expected; the sentence names neither key nor origin: the caller knows them.
Status parse(const ashlar_param& row, std::string_view text, Parsed* out);

/// "8KiB to 64MiB", "4KiB to 1GiB, or 0", or "" when the row has no range.
std::string range_in_words(const ashlar_param& row);

/// Whether the row's range can be read and holds its own default. For rows that come from components.
Status check_range(const ashlar_param& row);

/// "4096", "4KiB", "4K", "1.5MiB", "2GB": as values of rows of type bytes. Fails as parse() does.
Status parse_bytes(std::string_view text, std::uint64_t* out);

/// The canonical spelling of a value of this row ("16384" bytes -> "16KiB").
std::string format(const ashlar_param& row, const Parsed& value);

/// "bytes", "duration", ...
const char* type_name(ashlar_param_type type);
const char* scope_name(int scope);
const char* level_name(int verbosity);
/// The verbosity called `name` ("user-basic"), or 0.
int level_from_name(std::string_view name);

}  // namespace ashlar::param

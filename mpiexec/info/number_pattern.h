#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "framework/param/param_row.h"

namespace ashlar::info {

/// Whole numbers from `least` to `most`, in decimal digits, as a regular expression that JSON Schema, Python and
/// JavaScript read alike. Leading zeros are taken, as the parser of parameters takes them.
std::string whole_numbers(std::uint64_t least, std::uint64_t most);

/// What a row of type bytes or duration takes: numbers with a unit whose product is in the row's range. Of a number
/// with a fraction, only the digits before the point are compared with the range.
std::string quantity_pattern(const ashlar_param& row);

}  // namespace ashlar::info

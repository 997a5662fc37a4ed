#pragma once
#include <cstdint>

#include "framework/datatype/kernel_table.h"

namespace ashlar::datatype {

/// What .TRUE. and .FALSE. are from now on; 1 and 0 at first.
void keep_logical_values(std::int64_t yes, std::int64_t no);
/// Puts kernels for them in the place of those for 1 and 0, where they differ. Any thread, at any time.
void use_logical_values(KernelTable& table);

}  // namespace ashlar::datatype

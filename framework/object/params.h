#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/param/param_row.h"

namespace ashlar::object {

/// Parameters object.*; the rows describe this block.
struct Config {
  std::uint64_t limit = 0;
};

inline constexpr const char* kLimitRange[] = {"1024", "268435456", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"limit", "16777216",
     "Objects of each kind (communicators, groups, datatypes, operations, info objects, error handlers, sessions, "
     "windows) that a process may have at a time, those of the library included; beyond, calls fail with "
     "MPI_ERR_NO_MEM.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, 0, offsetof(Config, limit), kLimitRange},
};

}  // namespace ashlar::object

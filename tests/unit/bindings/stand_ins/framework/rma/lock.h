#pragma once
#include "framework/rma/api.h"

/// In place of the header of this name, whose functions are in line and look into windows that these tests do not have.
namespace ashlar::rma {

Status lock_in_line(int lock_type, int rank, int assert, Window& win);
Status unlock_in_line(int rank, Window& win);

}  // namespace ashlar::rma

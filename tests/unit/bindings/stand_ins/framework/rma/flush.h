#pragma once
#include "framework/rma/api.h"

/// In place of the header of this name, whose functions are in line and look into windows that these tests do not have.
namespace ashlar::rma {

Status flush_in_line(int rank, Window& win);
Status flush_all_in_line(Window& win);

}  // namespace ashlar::rma

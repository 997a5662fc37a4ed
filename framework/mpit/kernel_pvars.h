#pragma once

namespace ashlar::mpit {

/// Makes the variables of the kernel's rooms known before there is anything to count. A room with a pvars.h has a line
/// here.
void add_kernel_pvars();

}  // namespace ashlar::mpit

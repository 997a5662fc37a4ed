#include "framework/datatype/reduce_kernels.h"

namespace ashlar::datatype {

void fill_kernels_base(KernelTable& table) { fill(table); }

}  // namespace ashlar::datatype

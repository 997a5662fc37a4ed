// The same loops compiled for AVX-512 (flags in CMakeLists.txt). No FMA: results are those of the base kernels.
#if defined(__x86_64__)
#include "framework/datatype/reduce_kernels.h"

namespace ashlar::datatype {

void fill_kernels_avx512(KernelTable& table) { fill(table); }

}  // namespace ashlar::datatype
#endif

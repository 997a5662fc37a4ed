#pragma once
#include <cstddef>

#include "framework/datatype/basic.h"
#include "framework/datatype/reduce_op.h"

namespace ashlar::datatype {

/// out[i] = a[i] op b[i] for `n` elements; `out` is `b` or apart from both.
using Kernel = void (*)(const void* a, const void* b, void* out, std::size_t n);

/// One kernel per operation and element type; null where there is no such computation.
struct KernelTable {
  Kernel kernel[static_cast<int>(ReduceOp::Code::kUser)][static_cast<int>(Basic::kCount_)];
};

void fill_kernels_base(KernelTable& table);
#if defined(__x86_64__)
void fill_kernels_avx2(KernelTable& table);    // only where the machine has AVX2
void fill_kernels_avx512(KernelTable& table);  // only where it has AVX-512 F, BW, DQ and VL
#endif

}  // namespace ashlar::datatype
